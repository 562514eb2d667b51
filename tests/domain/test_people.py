"""The people of a job: what is accepted, and what is refused."""

import pytest

from horae.domain.errors import Invalid
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import ManualTrigger
from horae.domain.targets.targets import QueueTarget


def definition(**people):
    return Definition(trigger=ManualTrigger(), target=QueueTarget("q"), **people)


@pytest.mark.parametrize(
    "people",
    [
        {"description": "Closes orders.\n\tSee the wiki."},
        {"description": "x" * 2000},
        {"owner": "orders team"},
        {"owner": "订单组"},
        {"runbook": "https://wiki.example.com/orders?page=1#top"},
        {"contacts": ("orders-oncall", "a.b_c")},
        {"contacts": tuple("abcdefgh")},
        {"late_after": 1, "fail_after": 1},
        {"fail_after": 1000},
    ],
)
def test_what_people_write_is_kept(people):
    made = definition(**people)
    assert {name: getattr(made, name) for name in people} == people


@pytest.mark.parametrize(
    "people",
    [
        {"description": "x" * 2001},
        {"description": "a\x00b"},
        {"owner": ""},
        {"owner": " orders"},
        {"owner": "a\nb"},
        {"owner": "x" * 129},
        {"runbook": "http://wiki.example.com"},
        {"runbook": "https://"},
        {"runbook": "https://a:b@wiki.example.com"},
        {"runbook": "https://wiki.example.com/a b"},
        {"runbook": "https://wiki.example.com:x"},
        {"runbook": "javascript:alert(1)"},
        {"runbook": f"https://wiki.example.com/{'x' * 2000}"},
        {"contacts": tuple("abcdefghi")},
        {"contacts": ("a", "a")},
        {"contacts": ("-a",)},
        {"contacts": ("a b",)},
        {"contacts": ("x" * 64,)},
        {"late_after": 0},
        {"fail_after": 0},
        {"fail_after": 1001},
    ],
)
def test_what_cannot_be_shown_or_reached_is_refused(people):
    with pytest.raises(Invalid):
        definition(**people)
