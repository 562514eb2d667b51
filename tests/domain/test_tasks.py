import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.domain.errors import Invalid
from horae.domain.instances.lifecycle import FINAL, LIVE, State
from horae.domain.tasks.tasks import (
    AfterSuccess,
    Cancel,
    CreateDecision,
    Ignore,
    IgnoreReason,
    Intent,
    MoveDecision,
    Replace,
    check_key,
    decide,
    decide_cancel,
)
from tests.domain.builders import LATER, known

INTENT = Intent(LATER)


@pytest.mark.parametrize("state", [State.INIT, State.FAIL, State.BLOCKED])
def test_a_waiting_task_is_moved_in_place(state):
    found = known(state)
    assert decide(found, INTENT) == MoveDecision(found.live, LATER)


def test_a_running_task_is_replaced_never_moved():
    found = known(State.RUNNING)
    assert decide(found, INTENT) == Replace(found.live, LATER)


def test_a_task_that_succeeded_stays_as_it_is():
    assert decide(known(State.SUCCESS), INTENT) == Ignore(IgnoreReason.SUCCEEDED)


def test_a_type_that_reopens_starts_a_new_generation_after_success():
    change = decide(known(State.SUCCESS, generation=4), INTENT, AfterSuccess.REOPEN)
    assert change == CreateDecision(after=4, at=LATER)


@pytest.mark.parametrize("state", [State.DEAD, State.CANCELLED, State.SKIPPED])
def test_a_task_that_ended_otherwise_starts_anew(state):
    assert decide(known(state, generation=3), INTENT) == CreateDecision(after=3, at=LATER)


def test_a_key_never_used_is_created():
    assert decide(known(None), INTENT) == CreateDecision(after=0, at=LATER)


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("version", [4, 5])
def test_an_event_not_newer_than_the_last_one_is_stale_whatever_the_state(state, version):
    found = known(state, intent_version=5)
    assert decide(found, Intent(LATER, version=version)) == Ignore(IgnoreReason.STALE)
    assert decide_cancel(found, version) == Ignore(IgnoreReason.STALE)


@given(state=st.sampled_from(State), known_version=st.none() | st.integers(), version=st.none() | st.integers())
def test_without_two_versions_nothing_is_stale(state, known_version, version):
    if known_version is None or version is None:
        change = decide(known(state, intent_version=known_version), Intent(LATER, version=version))
        assert change != Ignore(IgnoreReason.STALE)


@pytest.mark.parametrize("state", sorted(LIVE))
def test_whatever_lives_can_be_cancelled(state):
    found = known(state)
    assert decide_cancel(found) == Cancel(found.live)


@pytest.mark.parametrize("state", [*sorted(FINAL), None])
def test_cancelling_what_does_not_live_changes_nothing(state):
    assert decide_cancel(known(state)) == Ignore(IgnoreReason.NOT_LIVE)


@pytest.mark.parametrize("key", ["", "a" * 201, "a\nb", "a\0b"])
def test_keys_that_could_not_be_printed_are_refused(key):
    with pytest.raises(Invalid):
        check_key(key)
