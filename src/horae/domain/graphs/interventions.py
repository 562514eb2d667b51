"""What a person may do with a step of an open run, and what becomes of the other steps."""

from enum import StrEnum

from horae.domain.errors import Conflict, NotFound
from horae.domain.graphs.runs import ENDED, FAILED, UNDECIDED, States, Steps, StepState, downstream


class StepAction(StrEnum):
    """What a person does with a step."""

    RETRY = "retry"
    """Run it again, and all steps behind it."""
    SKIP = "skip"
    """Go on without it."""
    SUCCEED = "succeed"
    """Mark it as succeeded."""


def intervene(steps: Steps, states: States, name: str, action: StepAction) -> dict[str, StepState]:
    """Return the new states of steps. Refuses an action that has no meaning for the state of the step."""
    state = states.get(name)
    if state is None:
        raise NotFound(f"the run has no step {name!r}")
    if action != StepAction.RETRY:
        if state not in FAILED | UNDECIDED:
            raise Conflict(f"step {name!r} is {state}; only one that waits, is blocked or failed can be passed over")
        return {name: StepState.WAIVED if action == StepAction.SKIP else StepState.SUCCESS}
    if state not in ENDED:
        raise Conflict(f"step {name!r} is {state}; only one that has ended can be run again")
    behind = downstream(steps, name)
    if running := [one for one in behind if states[one] == StepState.RELEASED]:
        raise Conflict(f"step {running[0]!r} behind it still runs; cancel it first, or wait")
    return dict.fromkeys(behind, StepState.WAITING)
