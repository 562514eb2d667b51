"""The rules of graphs: what is refused, and what becomes of steps, against a model that knows no order."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.domain.errors import Invalid
from horae.domain.graphs.graphs import MAX_NEEDS, MAX_STEPS, NeedsRule, StepPlan, ordered
from horae.domain.graphs.runs import (
    ENDED,
    FAILED,
    GOOD,
    RunState,
    StepState,
    downstream,
    outcome,
    progress,
    state_of_end,
)
from horae.domain.instances.lifecycle import State

OUTCOMES = st.sampled_from([StepState.SUCCESS, StepState.DEAD, StepState.CANCELLED, StepState.SKIPPED])


@st.composite
def graphs(draw):
    """Random graphs in a random order of their steps."""
    names = [f"s{number}" for number in range(draw(st.integers(1, 12)))]
    plans = []
    for number, name in enumerate(names):
        needs = tuple(draw(st.sets(st.sampled_from(names[:number]), max_size=4))) if number else ()
        plans.append(StepPlan(name, needs, draw(st.sampled_from(NeedsRule)) if needs else NeedsRule.ALL_SUCCESS))
    return draw(st.permutations(plans))


def model(plans, ends):
    """What must become of each step if every step that runs ends as `ends` says: by recursion from the leaves."""
    by_name = {plan.name: plan for plan in plans}

    @cache
    def state(name):
        plan = by_name[name]
        parents = [state(need) for need in plan.needs]
        bad = any(parent in FAILED or parent == StepState.BLOCKED for parent in parents)
        if plan.rule == NeedsRule.ANY_FAILED:
            runs, otherwise = bad, StepState.SKIPPED
        elif plan.rule == NeedsRule.ALL_DONE:
            runs, otherwise = True, None
        elif plan.rule == NeedsRule.NONE_FAILED:
            runs, otherwise = not bad, StepState.BLOCKED
        else:
            runs = all(parent in GOOD for parent in parents)
            otherwise = StepState.BLOCKED if bad else StepState.SKIPPED
        return ends[name] if runs else otherwise

    return {name: state(name) for name in by_name}


@given(graphs(), st.data())
def test_any_order_of_ends_leads_to_what_the_model_says(plans, data):
    steps = ordered(plans)
    ends = {step.name: data.draw(OUTCOMES, step.name) for step in steps}
    states = {step.name: StepState.WAITING for step in steps}
    ran = set()
    while True:
        step = progress(steps, states)
        states |= step.changed
        states |= dict.fromkeys(step.released, StepState.RELEASED)
        assert not ran & set(step.released), "a step runs once"
        ran |= set(step.released)
        again = progress(steps, states)
        assert (again.released, again.changed) == ([], {}), "one pass decides everything"
        live = sorted(name for name, state in states.items() if state == StepState.RELEASED)
        if not live:
            break
        for name in data.draw(st.sets(st.sampled_from(live), min_size=1)):
            states[name] = ends[name]
    assert states == model(plans, ends)
    decided = outcome(states)
    assert (decided == RunState.OPEN) == (StepState.BLOCKED in states.values())
    if decided != RunState.OPEN:
        assert (decided == RunState.SUCCESS) == (not FAILED & set(states.values()))


@given(graphs(), st.data())
def test_blocked_steps_go_on_when_a_person_waives_what_failed(plans, data):
    steps = ordered(plans)
    states = {step.name: data.draw(st.sampled_from(sorted({*ENDED, StepState.WAITING}))) for step in steps}
    states |= progress(steps, states).changed
    waived = {name: StepState.WAIVED if state in FAILED else state for name, state in states.items()}
    released, changed = progress(steps, waived)
    after = waived | changed | dict.fromkeys(released, StepState.RELEASED)
    assert StepState.BLOCKED not in after.values()


def test_steps_stand_behind_what_they_need():
    plans = [StepPlan("c", ("a", "b")), StepPlan("b", ("a",)), StepPlan("a")]
    assert [plan.name for plan in ordered(plans)] == ["a", "b", "c"]
    assert downstream(ordered(plans), "b") == ["b", "c"]


@pytest.mark.parametrize(
    ("plans", "reason"),
    [
        ([], "1 to 1000 steps"),
        ([StepPlan(f"s{number}") for number in range(MAX_STEPS + 1)], "1 to 1000 steps"),
        ([StepPlan("a"), StepPlan("a")], "two steps have the name 'a'"),
        ([StepPlan("a/b")], "a step's name"),
        ([StepPlan("")], "a step's name"),
        ([StepPlan("a", ("b",))], "'b', which is not a step"),
        ([StepPlan("a", ("a",))], "circle: a"),
        ([StepPlan("a"), StepPlan("b", ("a", "a"))], "twice"),
        ([StepPlan("x"), StepPlan("a", ("b",)), StepPlan("b", ("a",))], "circle: a, b"),
        ([StepPlan("a", rule=NeedsRule.ALL_DONE)], "has no effect"),
        (
            [*(StepPlan(f"s{number}") for number in range(MAX_NEEDS + 1)),
             StepPlan("z", tuple(f"s{number}" for number in range(MAX_NEEDS + 1)))],
            "at most 100",
        ),
        (
            [*(StepPlan(f"s{number}") for number in range(100)),
             *(StepPlan(f"z{number}", tuple(f"s{one}" for one in range(100))) for number in range(101))],
            "at most 10000 needs",
        ),
    ],
)  # fmt: skip
def test_a_graph_that_cannot_run_is_refused(plans, reason):
    with pytest.raises(Invalid, match=reason):
        ordered(plans)


@pytest.mark.parametrize(
    ("state", "reason", "expected"),
    [
        (State.SUCCESS, None, StepState.SUCCESS),
        (State.DEAD, None, StepState.DEAD),
        (State.CANCELLED, None, StepState.CANCELLED),
        (State.SKIPPED, "DECLINED", StepState.SKIPPED),
        (State.SKIPPED, "EXPIRED", StepState.DEAD),
        (None, None, StepState.DEAD),
    ],
)
def test_a_step_ends_as_its_instance_did(state, reason, expected):
    assert state_of_end(state, reason) == expected
