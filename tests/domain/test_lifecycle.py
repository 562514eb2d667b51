from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from horae.domain.instances.lifecycle import FINAL, LIVE, TRANSITIONS, WAITING, State, diagram, may_become


@given(st.lists(st.sampled_from(State), max_size=40))
def test_no_path_leaves_a_final_state(steps):
    state = None
    for step in steps:
        if may_become(state, step):
            assert state not in FINAL
            state = step


def test_every_state_can_be_reached_and_every_live_one_can_end():
    reached = {after for ways in TRANSITIONS.values() for after in ways}
    assert reached == set(State)
    for state in LIVE:
        seen, front = set(), {state}
        while front:
            seen |= front
            front = {after for before in front for after in TRANSITIONS.get(before, {})} - seen
        assert seen & FINAL, state


def test_live_and_final_share_nothing_and_leave_nothing_out():
    assert set(State) == LIVE | FINAL
    assert not LIVE & FINAL
    assert LIVE - {State.RUNNING} == WAITING


def test_only_a_running_instance_succeeds_and_only_one_that_runs_or_waited_too_long_dies():
    for before in (None, *State):
        assert may_become(before, State.SUCCESS) == (before is State.RUNNING)
        assert may_become(before, State.DEAD) == (before in {State.RUNNING, State.INIT, State.FAIL})


def test_the_docs_show_the_diagram_of_this_table():
    page = Path(__file__).parents[2] / "docs" / "lifecycle.md"
    assert diagram() in page.read_text()
