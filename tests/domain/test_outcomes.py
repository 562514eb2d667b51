from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.domain.instances.lifecycle import FINAL, State, may_become
from horae.domain.instances.outcomes import (
    AcceptedCall,
    DeadlineExtension,
    DeclinedCall,
    ErrorCode,
    FailedProbe,
    InstanceEnd,
    LostAttempt,
    NextAttempt,
    Retryable,
    SkipReason,
    Success,
    Unrecoverable,
    settle,
)
from horae.domain.instances.retries import RetryPolicy
from tests.domain.builders import NOW, an_instance

POLICY = RetryPolicy()
FAILED = Retryable(ErrorCode.HTTP_5XX, "answered 503")
outcomes = st.one_of(
    st.just(Success()),
    st.just(DeclinedCall("not due")),
    st.builds(LostAttempt, st.booleans()),
    st.builds(Unrecoverable, st.sampled_from(ErrorCode), st.text()),
    st.builds(Retryable, st.sampled_from(ErrorCode), st.text(), st.none() | st.floats(0, 1e6)),
)


def running(**facts):
    return an_instance(State.RUNNING, **facts)


def test_the_seeds_ladder_is_1_2_4_8_16_seconds_then_dead():
    waits, ran = [], running()
    while isinstance(again := settle(ran, FAILED, POLICY, NOW, 0.0), NextAttempt):
        waits.append((again.due_at - NOW).total_seconds())
        ran = running(attempt=again.attempt + 1, retry_count=again.retry_count)
    assert waits == [1.1, 2.1, 4.1, 8.1, 16.1]
    assert again == InstanceEnd(State.DEAD, 6, error_code=ErrorCode.HTTP_5XX, error_msg="answered 503")
    assert again.tag == "transient_error"


@given(failures=st.integers(1, 40), chance=st.floats(0, 1, exclude_max=True))
def test_a_wait_is_the_formula_plus_100_to_800_ms_and_never_above_300_s(failures, chance):
    wait = RetryPolicy(max_failures=100).delay(failures, chance).total_seconds()
    base = 0.5 * 2 ** min(failures, 8)
    assert min(base + 0.1, 300) <= wait <= min(base + 0.8, 300)


@given(seconds=st.floats(0, 1e9))
def test_a_target_that_asks_for_patience_gets_it_within_an_hour(seconds):
    wait = POLICY.delay(1, 0.5, seconds)
    assert wait >= min(timedelta(seconds=seconds), timedelta(hours=1))
    assert wait <= timedelta(hours=1)


@given(
    outcome=outcomes,
    attempt=st.integers(1, 50),
    retry_count=st.integers(0, 50),
    crash_count=st.integers(0, 5),
    chance=st.floats(0, 1, exclude_max=True),
)
def test_every_outcome_is_a_step_the_table_allows_and_no_count_goes_back(
    outcome, attempt, retry_count, crash_count, chance
):
    ran = running(attempt=attempt, retry_count=retry_count, crash_count=crash_count)
    decided = settle(ran, outcome, POLICY, NOW, chance)
    assert may_become(State.RUNNING, decided.state)
    assert decided.retry_count >= retry_count
    if isinstance(decided, InstanceEnd):
        assert decided.state in FINAL
        assert (decided.state is State.SKIPPED) == (decided.reason is not None)
        assert (decided.state is State.DEAD) == (decided.error_code is not None)
    else:
        assert decided.due_at >= NOW
        assert (decided.state is State.FAIL) == (decided.retry_count > 0)


def test_success_clears_the_error_and_keeps_the_failures():
    ended = settle(running(retry_count=3, error_msg="answered 503"), Success(), POLICY, NOW, 0)
    assert ended == InstanceEnd(State.SUCCESS, 3)


def test_declined_is_skipped_with_its_reason():
    assert settle(running(), DeclinedCall("not due"), POLICY, NOW, 0) == InstanceEnd(
        State.SKIPPED, 0, SkipReason.DECLINED, error_msg="not due"
    )


def test_what_our_node_lost_costs_neither_attempt_nor_crash():
    again = settle(running(attempt=2, retry_count=1), LostAttempt(), POLICY, NOW, 0)
    assert (again.state, again.attempt, again.retry_count, again.crash_count) == (State.FAIL, 1, 1, 0)


def test_a_worker_that_vanishes_three_times_is_a_crash_loop():
    ran = running()
    for crashes in (1, 2):
        again = settle(ran, LostAttempt(ours=False), POLICY, NOW, 0)
        assert (again.state, again.crash_count) == (State.INIT, crashes)
        ran = running(crash_count=again.crash_count)
    assert settle(ran, LostAttempt(ours=False), POLICY, NOW, 0).error_code is ErrorCode.CRASH_LOOP


@pytest.mark.parametrize("code", [ErrorCode.HTTP_4XX, ErrorCode.REDIRECT])
def test_an_unrecoverable_failure_is_dead_at_once_and_not_transient(code):
    ended = settle(running(), Unrecoverable(code, "no"), POLICY, NOW, 0)
    assert (ended.state, ended.retry_count, ended.tag) == (State.DEAD, 1, None)


def test_a_receiver_that_answers_later_keeps_the_attempt_running_until_it_must_be_heard():
    assert settle(running(), AcceptedCall(60), POLICY, NOW, 0.5) == DeadlineExtension(NOW + timedelta(seconds=60))


def test_what_cannot_be_opened_is_tried_again_after_a_second_then_after_twice_as_long_each_time():
    """Whatever the job's own policy says: nothing else holds it back."""
    hasty = RetryPolicy(base=0.001, jitter_min=0, jitter_max=0, longest=0.001)
    pauses = [
        settle(running(attempt=tries), FailedProbe(ErrorCode.SEALED, "no key"), hasty, NOW, 0).due_at - NOW
        for tries in (1, 2, 3, 6, 1000)
    ]
    assert [pause.total_seconds() for pause in pauses] == [1, 2, 4, 30, 30]


def test_a_failed_probe_of_the_breaker_costs_the_job_nothing():
    ran = running()
    again = settle(ran, FailedProbe(ErrorCode.TIMEOUT, "no answer"), POLICY, NOW, 0.5)
    assert isinstance(again, NextAttempt)
    assert (again.state, again.retry_count, again.attempt) == (State.INIT, ran.retry_count, ran.attempt)
    assert again.due_at > NOW
