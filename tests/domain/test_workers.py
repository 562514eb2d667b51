from math import inf, nan
from uuid import UUID

import pytest

from horae.domain.errors import Invalid
from horae.domain.instances.outcomes import DeclinedCall, ErrorCode, Retryable, Success, Unrecoverable
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.workers import MOST, FailureReport, Heartbeat, check_many, check_worker, outcome_of


def test_a_report_becomes_an_outcome_of_the_rules_with_the_handlers_code():
    assert outcome_of(Success()) == Success()
    assert outcome_of(DeclinedCall("not due")) == DeclinedCall("not due")
    assert outcome_of(FailureReport("no", retry_after=3)) == Retryable(ErrorCode.HANDLER, "no", 3)
    assert outcome_of(FailureReport("never", retryable=False)) == Unrecoverable(ErrorCode.HANDLER, "never")


def test_a_message_is_cut_and_keeps_no_byte_that_postgresql_refuses():
    assert outcome_of(FailureReport("a\0b" + "x" * 5000)).message == "a\N{REPLACEMENT CHARACTER}b" + "x" * 2045


@pytest.mark.parametrize("seconds", [0, -1, 3601, inf, nan])
def test_a_heartbeat_is_good_for_at_most_an_hour(seconds):
    with pytest.raises(Invalid):
        Heartbeat(UUID(int=1), 1, "t", seconds)
    with pytest.raises(Invalid):
        QueueTarget("mail", seconds)


@pytest.mark.parametrize("seconds", [-1, inf, nan])
def test_a_wait_is_a_number_of_seconds(seconds):
    with pytest.raises(Invalid):
        FailureReport("no", retry_after=seconds)


def test_names_and_sizes_have_their_limits():
    for worker_id in ("", "x" * 201, "a\nb"):
        with pytest.raises(Invalid):
            check_worker(worker_id)
    for many in (0, MOST + 1):
        with pytest.raises(Invalid):
            check_many(many)
    with pytest.raises(Invalid):
        QueueTarget("")
