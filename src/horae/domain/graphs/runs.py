"""The rules of a run: which steps may start, which are blocked or skipped, and how the run ends.

1. A step ends as its last instance did: SUCCESS, DEAD, CANCELLED, or SKIPPED if the receiver declined the call.
2. A step that fails (DEAD or CANCELLED) blocks the steps that need its success, and those behind them. They wait for a
   person, who runs the step again, skips it (WAIVED), or marks it as succeeded; or for the deadline of the run.
3. A step whose rule can no longer come true is SKIPPED, and so are the steps that need its success.
4. The run ends when no step waits, runs or is blocked. It succeeds if no step failed.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, assert_never

from horae.domain.graphs.graphs import GraphStep, NeedsRule, StepPlan, followers_of
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import SkipReason


class StepState(StrEnum):
    """The state of a step in one run."""

    WAITING = "WAITING"
    """A step that it needs has not ended."""
    BLOCKED = "BLOCKED"
    """A step that it needs has failed, or is blocked itself."""
    RELEASED = "RELEASED"
    """Its instance is live."""
    SUCCESS = "SUCCESS"
    DEAD = "DEAD"
    CANCELLED = "CANCELLED"
    SKIPPED = "SKIPPED"
    """Its rule cannot come true any more, or its receiver declined the call."""
    WAIVED = "WAIVED"
    """A person skipped it; for the steps that need it, that is as good as a success."""


class RunState(StrEnum):
    """The state of a run."""

    OPEN = "OPEN"
    SUCCESS = "SUCCESS"
    DEAD = "DEAD"
    CANCELLED = "CANCELLED"
    SKIPPED = "SKIPPED"


UNDECIDED: Final = frozenset({StepState.WAITING, StepState.BLOCKED})
"""States that depend on other steps."""
FAILED: Final = frozenset({StepState.DEAD, StepState.CANCELLED})
GOOD: Final = frozenset({StepState.SUCCESS, StepState.WAIVED})
ENDED: Final = FAILED | GOOD | {StepState.SKIPPED}
UNSUCCESSFUL: Final = FAILED | {StepState.BLOCKED}
"""States that keep a step from running that needs success."""

Steps = Sequence[GraphStep] | Sequence[StepPlan]
States = Mapping[str, StepState]


class Progress(NamedTuple):
    """What becomes of the steps of a run: those to release now, and the new states of others."""

    released: list[str]
    changed: dict[str, StepState]


def progress(steps: Steps, states: States) -> Progress:
    """Return which steps may start, and which are blocked, unblocked or skipped now.

    `steps` are in the order of the graph, so one pass is enough.
    """
    now = dict(states)
    released: list[str] = []
    for step in steps:
        if now[step.name] not in UNDECIDED:
            continue
        decided = decide_step(step.rule, [now[need] for need in step.needs])
        if decided == StepState.RELEASED:
            released.append(step.name)
        now[step.name] = decided
    started = set(released)
    changed = {name: state for name, state in now.items() if state != states[name] and name not in started}
    return Progress(released, changed)


def outcome(states: States) -> RunState:
    """Return how a run ends; OPEN while a step waits, runs or is blocked."""
    found = set(states.values())
    if found - ENDED:
        return RunState.OPEN
    return RunState.DEAD if found & FAILED else RunState.SUCCESS


def state_of_end(state: State | None, reason: str | None) -> StepState:
    """Return the state of a step whose instance ended so. An end without a record counts as a failure."""
    if state == State.SUCCESS:
        return StepState.SUCCESS
    if state == State.CANCELLED:
        return StepState.CANCELLED
    if state == State.SKIPPED and reason == SkipReason.DECLINED:
        return StepState.SKIPPED
    return StepState.DEAD


def downstream(steps: Steps, name: str) -> list[str]:
    """Return a step and all steps that need it, directly or not, in the order of the graph."""
    followers = followers_of((step.name, step.needs) for step in steps)
    found = {name}
    for step in steps:  # in order: a step stands behind those that it needs
        if step.name in found:
            found.update(followers.get(step.name, ()))
    return [step.name for step in steps if step.name in found]


def decide_step(rule: NeedsRule, parents: Sequence[StepState]) -> StepState:
    """Return the state of a step by the states of the steps that it needs; RELEASED: it may start."""
    found = set(parents)
    is_over = not found - ENDED
    match rule:
        case NeedsRule.ALL_SUCCESS:
            if found & UNSUCCESSFUL:
                return StepState.BLOCKED
            if not found - GOOD:
                return StepState.RELEASED
            return StepState.SKIPPED if is_over else StepState.WAITING
        case NeedsRule.NONE_FAILED:
            if found & UNSUCCESSFUL:
                return StepState.BLOCKED
            return StepState.RELEASED if is_over else StepState.WAITING
        case NeedsRule.ALL_DONE:
            return StepState.WAITING if found - ENDED - {StepState.BLOCKED} else StepState.RELEASED
        case NeedsRule.ANY_FAILED:
            if found & UNSUCCESSFUL:
                return StepState.RELEASED
            return StepState.SKIPPED if is_over else StepState.WAITING
        case other:
            assert_never(other)
