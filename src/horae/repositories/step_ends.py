"""Records the ends of steps of graphs in the transaction that settles their attempts."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from horae.domain.graphs.runs import state_of_end
from horae.domain.instances.idempotency_keys import is_child_key
from horae.domain.schedules.timers import Timer
from horae.store.graphs import steps
from horae.store.graphs.steps import StepEnd
from horae.store.instances.instances import EndRow
from horae.store.tx import Tx


class RecordedEnds(NamedTuple):
    """What followed from ends of steps: the timers of released ones. `undecided`: nodes have to decide about a run."""

    released: list[Timer]
    undecided: bool


NO_ENDS = RecordedEnds([], undecided=False)


class StepRecorder(Protocol):
    """Records ends of steps, and of children of mapped steps."""

    async def record(self, tx: Tx, step_ends: Sequence[StepEnd], child_ends: Sequence[StepEnd]) -> RecordedEnds:
        """Record them in this transaction."""


class PlainRecorder:
    """Records ends and releases nothing: a node decides about the runs next."""

    async def record(self, tx: Tx, step_ends: Sequence[StepEnd], child_ends: Sequence[StepEnd]) -> RecordedEnds:
        """Record ends by one statement."""
        return await record_children(tx, [*step_ends, *child_ends])


async def record_children(tx: Tx, ends: Sequence[StepEnd]) -> RecordedEnds:
    """Record ends about which a node decides next: those of children, because their step may start others."""
    if not ends:
        return NO_ENDS
    await steps.record(tx, ends)
    return RecordedEnds([], undecided=True)


async def record_steps(tx: Tx, recorder: StepRecorder, ended: Sequence[EndRow]) -> RecordedEnds:
    """Record the ends of these instances of step jobs."""
    step_ends: list[StepEnd] = []
    child_ends: list[StepEnd] = []
    for ran, over, *_ in ended:
        end = StepEnd(ran.shard, ran.id, state_of_end(over.state, over.reason), over.error_code)
        (child_ends if is_child_key(ran.idem_key) else step_ends).append(end)
    return await recorder.record(tx, step_ends, child_ends) if ended else NO_ENDS
