"""Messages of an intake that no row can hold: each is parked, and what comes behind it is taken."""

import msgspec
import pytest

from horae.domain.errors import Invalid
from horae.domain.tasks.tasks import DEEPEST_PAYLOAD, check_payload
from horae.service.events import intake_batches, parked_messages
from horae.service.events.intake_batches import IntakeMessage
from horae.service.tasks import tasks
from tests.events.test_intakes import TYPE, a_change, told  # noqa: F401


def nested(levels):
    """Objects within each other, so many."""
    payload = 1
    for _ in range(levels):
        payload = {"a": payload}
    return payload


@pytest.mark.parametrize("name", ["a\0", "", " a", "a/b", "x" * 500, "a\ud7ff\n"])
async def test_a_type_that_no_job_can_have_is_parked_and_holds_nobody_back(ctx, store, told, name):  # noqa: F811
    bad = msgspec.json.encode({"type": name, "key": "k", "version": 1})
    done = await intake_batches.apply_batch(
        ctx, told, [IntakeMessage(bad, "t/0"), IntakeMessage(a_change("good", 1), "t/1")]
    )
    assert done == (1, 1)
    [one] = await parked_messages.page(ctx, None, 10)
    assert (one.place, one.code) == ("t/0", "SCH_400_BAD_REQUEST")
    assert (await tasks.show(ctx, TYPE, "good")).known.ledger.intent_version == 1


async def test_a_payload_deeper_than_the_api_takes_is_parked(ctx, store, told):  # noqa: F811
    bad = b'{"type":"%b","key":"k","version":1,"payload":%b1%b}' % (TYPE.encode(), b'{"a":' * 900, b"}" * 900)
    done = await intake_batches.apply_batch(
        ctx, told, [IntakeMessage(bad, "t/0"), IntakeMessage(a_change("good", 1), "t/1")]
    )
    assert done == (1, 1)


def test_a_payload_is_as_deep_as_a_body_of_the_api():
    check_payload(nested(DEEPEST_PAYLOAD))
    check_payload([{"a": "[" * 100}] * 50)
    with pytest.raises(Invalid, match="levels deep"):
        check_payload(nested(DEEPEST_PAYLOAD + 1))
