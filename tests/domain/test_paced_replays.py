"""Paced replays: what the next step is."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from horae.domain.errors import Invalid
from horae.domain.instances.dead_letters import DeadLetterFilter
from horae.domain.instances.paced_replays import (
    MAX_DEAD_LETTERS,
    MAX_PACE,
    EndStep,
    PacedReplay,
    PacedReplayStatus,
    ReplayProgress,
    SendStep,
    WaitStep,
    check_paced_replay,
    next_step,
    status_after,
)

CANARY = PacedReplay(
    id=UUID(int=1),
    shard=1,
    tenant_id=UUID(int=2),
    wanted=DeadLetterFilter(tag="transient_error"),
    limit=100,
    pace=10,
    canary=3,
    max_failures=None,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    created_by="test",
    status=PacedReplayStatus.CANARY,
)
RUNNING = replace(CANARY, canary=0, status=PacedReplayStatus.RUNNING)


def step(replay, progress, withheld_by=None, *, is_empty=False):
    return next_step(replay, progress, withheld_by=withheld_by, is_empty=is_empty)


def test_a_canary_is_sent_then_waits_then_goes_on_or_stops():
    assert step(CANARY, ReplayProgress()) == SendStep(3)
    assert isinstance(step(CANARY, ReplayProgress(outstanding=1, succeeded=2)), WaitStep)
    assert status_after(CANARY, ReplayProgress(outstanding=1, succeeded=2)) == PacedReplayStatus.CANARY
    assert status_after(CANARY, ReplayProgress(succeeded=3)) == PacedReplayStatus.RUNNING
    for bad in (ReplayProgress(succeeded=2, failed=1), ReplayProgress(outstanding=2, returned=1)):
        assert step(CANARY, bad).status == PacedReplayStatus.STOPPED


def test_the_pace_the_limit_and_the_outstanding_ones_bound_a_step():
    assert step(RUNNING, ReplayProgress()) == SendStep(10)
    assert step(RUNNING, ReplayProgress(succeeded=95)) == SendStep(5)
    assert step(replace(RUNNING, limit=1000), ReplayProgress(outstanding=95)) == SendStep(5)
    assert isinstance(step(replace(RUNNING, limit=1000), ReplayProgress(outstanding=100)), WaitStep)


def test_nothing_is_sent_while_a_measure_withholds_work():
    assert step(RUNNING, ReplayProgress(), "incident") == WaitStep("the measure incident")


def test_too_many_failures_stop_it():
    bounded = replace(RUNNING, max_failures=2)
    assert step(bounded, ReplayProgress(failed=2)) == SendStep(10)
    assert step(bounded, ReplayProgress(failed=3)).status == PacedReplayStatus.STOPPED
    assert step(RUNNING, ReplayProgress(failed=90)) == SendStep(10)


def test_it_ends_when_every_outcome_is_known():
    assert isinstance(step(RUNNING, ReplayProgress(outstanding=1, succeeded=99)), WaitStep)
    assert step(RUNNING, ReplayProgress(succeeded=99, failed=1)).status == PacedReplayStatus.COMPLETED
    assert step(RUNNING, ReplayProgress(refused=7), is_empty=True).status == PacedReplayStatus.COMPLETED
    assert isinstance(step(CANARY, ReplayProgress(outstanding=2), is_empty=True), WaitStep)


@given(
    st.sampled_from([CANARY, RUNNING, replace(RUNNING, max_failures=5), replace(CANARY, canary=100)]),
    st.builds(ReplayProgress, *[st.integers(0, 120)] * 5),
    st.booleans(),
    st.sampled_from([None, "incident"]),
)
def test_a_step_never_sends_more_than_is_allowed(replay, progress, is_empty, withheld_by):
    replay = replace(replay, status=status_after(replay, progress))
    match step(replay, progress, withheld_by, is_empty=is_empty):
        case SendStep(many):
            assert 0 < many <= replay.pace
            assert progress.sent + many <= replay.limit
            assert replay.status != PacedReplayStatus.CANARY or progress.sent + many <= replay.canary
            assert not is_empty
            assert withheld_by is None
        case EndStep(status, _):
            assert status == PacedReplayStatus.STOPPED or progress.outstanding == 0
        case WaitStep(reason):
            assert reason


@pytest.mark.parametrize(
    ("wanted", "bounds"),
    [
        (DeadLetterFilter(), (1, 1, 0)),
        (CANARY.wanted, (0, 1, 0)),
        (CANARY.wanted, (MAX_DEAD_LETTERS + 1, 1, 0)),
        (CANARY.wanted, (1, 0, 0)),
        (CANARY.wanted, (1, MAX_PACE + 1, 0)),
        (CANARY.wanted, (1, 1, 2)),
        (CANARY.wanted, (1, 1, -1)),
    ],
)
def test_what_is_beyond_the_bounds_is_refused(wanted, bounds):
    with pytest.raises(Invalid):
        check_paced_replay(wanted, *bounds)
