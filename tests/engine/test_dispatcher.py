"""Every call that was let pass reports to its target once, however it ends."""

from datetime import timedelta

import pytest

from horae.domain.instances.outcomes import (
    ErrorCode,
    FailedProbe,
    Retryable,
    Success,
    TargetHealth,
    Unrecoverable,
    health_by,
)
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from tests.engine.running import running
from tests.steps import a_job, until


@pytest.mark.parametrize("batch", [1, 5])
async def test_a_call_that_cannot_be_begun_fails_alone_and_its_slot_comes_back(ctx, store, catcher, batch):
    anchor = store.cells[0].clock.now().replace(microsecond=0) + timedelta(seconds=2)
    for n in range(6):
        target = HttpTarget(f"{catcher.url}/{n}", batch=batch if n == 3 else 1)
        await a_job(ctx, f"j{n}", IntervalTrigger(3600, anchor), target=target)
    async with running(store) as node:
        tries = stumble(node.sender, "/3")
        others = {f"/{n}" for n in range(6) if n != 3}
        await until(lambda: len(tries) > 1 and {arrival.path for arrival in catcher.arrivals} >= others)
        await until(lambda: node.admission.slots.free == node.admission.slots.total)
        assert {target.in_flight for target in node.admission.targets} == {0}
        assert all(target.breaker.closed for target in node.admission.targets)


def stumble(sender, path):
    """The first call to a path meets a mistake of ours; returns all that were tried."""
    tries = []

    def stumbling(send):
        def one(ran, job, done):
            if job.definition.target.url.endswith(path):
                tries.append(ran)
                if len(tries) == 1:
                    raise RuntimeError("a mistake")
            send(ran, job, done)

        return one

    sender.push, sender.push_batch = stumbling(sender.push), stumbling(sender.push_batch)
    return tries


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Success(), TargetHealth.OK),
        (Unrecoverable(ErrorCode.HTTP_4XX, ""), TargetHealth.OK),
        (Retryable(ErrorCode.HTTP_5XX, ""), TargetHealth.FAILED),
        (Retryable(ErrorCode.HTTP_425, ""), TargetHealth.TOO_EARLY),
        (Unrecoverable(ErrorCode.NO_SECRET, ""), TargetHealth.UNKNOWN),
        (Unrecoverable(ErrorCode.REFUSED, ""), TargetHealth.UNKNOWN),
        (FailedProbe(ErrorCode.SEALED, ""), TargetHealth.UNKNOWN),
    ],
)
def test_what_was_never_sent_says_nothing_about_its_target(outcome, said):
    """A probe without its key closed the breaker of a target that was down."""
    assert health_by(outcome) is said
