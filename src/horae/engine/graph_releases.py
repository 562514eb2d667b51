"""Prepares the releases that need values: steps with parameters, mapped steps, and the children of those.

1. A mapped step starts with a row for each element of its list; they wait. No instance is made yet.
2. In the next rounds its children are counted, and the next ones that may start get their instances: some at a time,
   and at most as many live ones as the step allows. The list is read again each time, so no element is stored twice.
3. The step ends when no child waits or is live. A round that has ended one leaves its run stale: the next one decides
   what follows.
4. A round reads a bounded number of values and makes a bounded number of rows. What is left over keeps its run stale.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

from horae.domain.errors import KeysUnavailable
from horae.domain.graphs.children import check_list, decide_children
from horae.domain.graphs.graphs import MAX_CHILDREN, GraphStep, list_of
from horae.domain.graphs.parameters import UnresolvedParameter, value_of
from horae.domain.graphs.runs import StepState
from horae.domain.instances.idempotency_keys import child_key, step_key
from horae.domain.instances.instances import Lane, Priority
from horae.domain.schedules.timers import Timer
from horae.engine.graph_parameters import ParameterReader, ReadValues, ResolvingStep, Versions
from horae.repositories.definitions import Definitions
from horae.runtime.turns import LoopTurns
from horae.store.graphs import children
from horae.store.graphs.children import MappedPlace, MappedStart
from horae.store.graphs.steps import ReleaseRow, StepChange, StepRow
from horae.store.tx import Tx

CHILDREN_AT_ONCE: Final = 2000
"""Children that one transaction releases."""
CHILD_ROWS_AT_ONCE: Final = 20_000
"""Waiting children that one transaction inserts; a step with more of them is alone in its transaction."""
VALUES_AT_ONCE: Final = 200
"""Results and payloads that one transaction reads for steps with parameters. Each has at most 64 KiB."""
MAPPED_AT_ONCE: Final = 100
"""Mapped steps of which one transaction releases children."""
LONGEST_REASON: Final = 500
PRIORITIES: Final[Mapping[int, Priority]] = {priority.value: priority for priority in Priority}
NewId = Callable[[int], UUID]


class ReleasingRun(Protocol):
    """What a new instance takes from its run."""

    @property
    def shard(self) -> int:
        """The shard of the run."""

    @property
    def id(self) -> UUID:
        """The id of the run."""

    @property
    def tenant_id(self) -> UUID:
        """The tenant of the run."""

    @property
    def fire_time(self) -> datetime:
        """The fire time of the run."""


class PreparedReleases(NamedTuple):
    """What a round writes for steps that need values. `stale`: runs about which the next round decides again.

    `unavailable`: runs for which a key is missing.
    """

    releases: list[ReleaseRow]
    children: list[tuple[int, ReleaseRow]]
    starts: list[MappedStart]
    changes: list[StepChange]
    stale: set[UUID]
    unavailable: set[UUID]


class ReleasePreparer:
    """Prepares releases of one cell."""

    def __init__(self, definitions: Definitions) -> None:
        self.reader = ParameterReader(definitions)

    async def prepare(
        self, tx: Tx, released: Sequence[ResolvingStep], going: Sequence[ResolvingStep], known: Versions, new_id: NewId
    ) -> PreparedReleases:
        """Prepare steps that may start, and go on with mapped steps that run. Without such steps nothing is read."""
        made = PreparedReleases([], [], [], [], set(), set())
        if not released and not going:
            return made
        picked = await self._pick(tx, going, made) if going else []
        starting = self._bound(released, made)
        values = await self.reader.read(tx, [*starting, *(one for one, _ in picked)], known)
        for one in starting:
            self._start(one, values, made, new_id)
        turns = LoopTurns()
        for one, numbers in picked:
            self._release_children(one, numbers, values, made, new_id)
            await turns.yield_if_long()
        return made

    async def _pick(
        self, tx: Tx, going: Sequence[ResolvingStep], made: PreparedReleases
    ) -> list[tuple[ResolvingStep, Sequence[int]]]:
        """Decide about mapped steps that run; returns the numbers of the children that start now."""
        share = max(1, CHILDREN_AT_ONCE // len(going))
        places = [
            MappedPlace(one.run.shard, one.run.id, _row(one).position, one.step.concurrency or MAX_CHILDREN)
            for one in going
        ]
        counts = await children.count(tx, places, share)
        picked: list[tuple[ResolvingStep, Sequence[int]]] = []
        for one in going:
            row = _row(one)
            decided = decide_children(one.step, row.children or 0, counts[one.run.id, row.position])
            if decided.state is not None:
                made.changes.append(_change(one, decided.state, decided.reason))
            if decided.starting and len(picked) < MAPPED_AT_ONCE:
                picked.append((one, decided.starting))
            if decided.state is not None or len(decided.starting) == share or len(picked) == MAPPED_AT_ONCE:
                made.stale.add(one.run.id)
        return picked

    def _bound(self, released: Sequence[ResolvingStep], made: PreparedReleases) -> list[ResolvingStep]:
        """The first steps of which this round reads the values. The others wait for the next one."""
        taken: list[ResolvingStep] = []
        reads = 0
        for one in released:
            reads += 1 + len(one.step.reads) + one.step.reads_payload
            if taken and reads > VALUES_AT_ONCE:
                made.stale.add(one.run.id)
            else:
                taken.append(one)
        return taken

    def _start(self, one: ResolvingStep, values: ReadValues, made: PreparedReleases, new_id: NewId) -> None:
        row = _row(one)
        try:
            if one.step.each is not None:
                self._start_mapped(one, self._list(one, values), made)
                return
            key = step_key(one.step.job_id, one.run.id, row.generation)
            payload = self.reader.payload_of_step(one, values, key)
            id_ = new_id(one.run.shard)
            made.releases.append(release_row(one.run, one.step, row.position, key, id_, payload))
        except UnresolvedParameter as error:
            _fail(one, error, made)
        except KeysUnavailable:
            made.unavailable.add(one.run.id)

    def _start_mapped(self, one: ResolvingStep, items: Sequence[Any], made: PreparedReleases) -> None:
        made.stale.add(one.run.id)  # the next round releases the first children, or ends a step without any
        rows = sum(start.children for start in made.starts) + len(items)
        if not made.starts or rows <= CHILD_ROWS_AT_ONCE:
            made.starts.append(MappedStart(one.run.shard, one.run.id, _row(one).position, len(items)))

    def _release_children(
        self, one: ResolvingStep, numbers: Sequence[int], values: ReadValues, made: PreparedReleases, new_id: NewId
    ) -> None:
        row = _row(one)
        try:
            items = self._list(one, values)
            if len(items) != row.children:
                raise UnresolvedParameter("the list for 'each' is not the one that the step began with")
            released = []
            for number in numbers:
                key = child_key(one.step.job_id, one.run.id, row.generation, number)
                payload = self.reader.payload_of_step(one, values, key, items[number])
                id_ = new_id(one.run.shard)
                released.append((number, release_row(one.run, one.step, row.position, key, id_, payload)))
            made.children.extend(released)
        except UnresolvedParameter as error:
            _fail(one, error, made)
        except KeysUnavailable:
            made.unavailable.add(one.run.id)

    def _list(self, one: ResolvingStep, values: ReadValues) -> list[Any]:
        source = list_of(one.step)
        assert source is not None
        return check_list(value_of(source, self.reader.looking_up(one, values)))


def release_row(
    run: ReleasingRun, step: GraphStep, position: int, key: str, id_: UUID, payload: Any = None
) -> ReleaseRow:
    """Return the row that releases a step, or a child of it, with a new instance under this idempotency key."""
    return ReleaseRow(
        run.shard,
        run.id,
        position,
        id_,
        run.tenant_id,
        step.job_id,
        step.job_version,
        key,
        run.fire_time,
        step.priority,
        step.slot_ms,
        step.queue,
        payload,
    )


def plain_release(run: ReleasingRun, step: GraphStep, position: int, generation: int, id_: UUID) -> ReleaseRow:
    """Return the row that releases a step without values."""
    return release_row(run, step, position, step_key(step.job_id, run.id, generation), id_)


def timers_of(released: Sequence[ReleaseRow], tx: Tx) -> list[Timer]:
    """Return the timers of instances that this transaction has inserted, as far as nodes call them."""
    return [
        Timer(
            row.shard,
            row.instance_id,
            tx.now,
            row.tenant_id,
            PRIORITIES[row.priority],
            Lane.FIRST,
            row.job_id,
            row.job_version,
        )
        for row in released
        if row.queue is None
    ]


def _row(one: ResolvingStep) -> StepRow:
    return one.rows[one.step.name]


def _fail(one: ResolvingStep, error: UnresolvedParameter, made: PreparedReleases) -> None:
    """The step is DEAD with the reason; live children of it go on, and are counted no more."""
    made.changes.append(_change(one, StepState.DEAD, f"UNRESOLVED: {error}"))
    made.stale.add(one.run.id)


def _change(one: ResolvingStep, state: StepState, reason: str | None) -> StepChange:
    row = _row(one)
    return StepChange(
        one.run.shard, one.run.id, row.position, state, row.generation, reason and reason[:LONGEST_REASON]
    )
