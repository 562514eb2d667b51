"""When a wait ends, and how."""

from datetime import timedelta
from uuid import UUID

import pytest

from horae.domain.errors import Invalid
from horae.domain.ids import compose
from horae.domain.instances.expiry import (
    DEFAULT_EXPIRES_AFTER_S,
    WaitingInstance,
    expire,
    expires_after_s,
    expires_at,
)
from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.lifecycle import State, may_become
from horae.domain.instances.outcomes import ErrorCode, SkipReason
from horae.domain.jobs.jobs import Definition, Job, Status
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.schedules.triggers import (
    DelayTrigger,
    IntervalTrigger,
    KeyedTrigger,
    ManualTrigger,
    OnceTrigger,
    RollingTrigger,
    cron,
)
from horae.domain.targets.targets import HttpTarget
from tests.domain.builders import NOW

HOUR = timedelta(hours=1)
RECURRING = [cron("* * * * *"), IntervalTrigger(60, NOW), RollingTrigger(3600, 60, NOW)]
OTHERS = [KeyedTrigger(), OnceTrigger(NOW), DelayTrigger(5), ManualTrigger()]


def a_job(trigger, **facts):
    made = Definition(trigger=trigger, target=HttpTarget("http://x/"), **facts)
    return Job(
        shard=1, id=UUID(int=3), tenant_id=UUID(int=2), name="j", version=1, status=Status.ACTIVE, definition=made
    )


def waits(born=NOW - HOUR, **facts):
    base = {
        "shard": 1,
        "id": compose(1, int(born.timestamp() * 1000), 7),
        "tenant_id": UUID(int=2),
        "job_id": UUID(int=3),
        "job_version": 1,
        "fire_time": NOW,
        "due_at": NOW,
        "state": State.INIT,
        "priority": Priority.NORMAL,
        "lane": Lane.FIRST,
        "attempt": 0,
        "retry_count": 0,
        "business_key": None,
        "error_msg": None,
    }
    return WaitingInstance(**(base | facts))


@pytest.mark.parametrize("trigger", RECURRING, ids=repr)
def test_what_recurs_waits_for_a_day_where_nothing_else_is_said(trigger):
    assert expires_at(waits(), a_job(trigger)) == NOW + timedelta(seconds=DEFAULT_EXPIRES_AFTER_S)
    assert expires_after_s(a_job(trigger, expires_after=5)) == 5


@pytest.mark.parametrize("trigger", OTHERS, ids=repr)
def test_tasks_and_what_fires_once_or_by_hand_wait_without_end_where_nothing_else_is_said(trigger):
    assert expires_at(waits(), a_job(trigger)) is None
    assert expires_at(waits(), a_job(trigger, expires_after=60)) == NOW + timedelta(seconds=60)


def test_probes_and_retries_do_not_begin_the_wait_anew():
    probed = waits(attempt=9, due_at=NOW + 23 * HOUR)
    assert expires_at(probed, a_job(cron("* * * * *"))) == NOW + timedelta(days=1)


def test_a_fire_that_is_made_up_for_and_a_replay_count_from_their_birth():
    assert expires_at(waits(born=NOW + HOUR), a_job(cron("* * * * *"), expires_after=60)) == NOW + HOUR + HOUR / 60


def test_a_task_that_was_moved_to_the_past_counts_from_when_it_was_due():
    moved = waits(born=NOW - 90 * HOUR, fire_time=NOW - 50 * HOUR, due_at=NOW, business_key="k")
    assert expires_at(moved, a_job(KeyedTrigger(), expires_after=60)) == NOW + HOUR / 60


@pytest.mark.parametrize(
    ("trigger", "facts", "state"),
    [
        (cron("* * * * *"), {}, State.SKIPPED),
        (cron("* * * * *"), {"state": State.BLOCKED}, State.SKIPPED),
        (cron("* * * * *"), {"attempt": 1}, State.DEAD),
        (cron("* * * * *"), {"attempt": 2, "retry_count": 1, "state": State.FAIL}, State.DEAD),
        (RollingTrigger(3600, 60, NOW), {"business_key": "subject"}, State.SKIPPED),
        (KeyedTrigger(), {"business_key": "k"}, State.DEAD),
        (OnceTrigger(NOW), {"business_key": "self"}, State.DEAD),
    ],
    ids=str,
)
def test_a_fire_that_was_never_sent_is_skipped_and_all_else_leaves_a_dead_letter(trigger, facts, state):
    waiting = waits(**facts)
    ended = expire(waiting, a_job(trigger, expires_after=60))
    assert ended.state is state
    assert may_become(waiting.state, ended.state)
    assert (ended.reason, ended.error_code, ended.retry_count) == (
        (SkipReason.EXPIRED, None, 0) if state is State.SKIPPED else (None, ErrorCode.EXPIRED, waiting.retry_count)
    )
    assert ended.tag == (None if state is State.SKIPPED else "transient_error")


def test_the_row_says_how_long_it_waited_for_what_and_what_failed_before():
    ended = expire(waits(attempt=1, error_msg="answered 503"), a_job(cron("* * * * *")), HoldReason.BREAKER)
    assert ended.error_msg == (
        "not sent within 86400 s: the circuit breaker of its target is open; last error: answered 503"
    )


@pytest.mark.parametrize("seconds", [0, -1, 0.5, 367 * 86400, float("nan")])
def test_a_wait_of_no_time_or_without_end_is_refused(seconds):
    with pytest.raises(Invalid, match="expires_after"):
        a_job(KeyedTrigger(), expires_after=seconds)
