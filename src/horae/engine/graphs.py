"""Runs graphs: starts runs, releases the steps whose needs are met, and ends runs whose steps have ended.

1. A due fire of a graph is claimed by the transaction that inserts the rows of its run and its steps. No call is made.
2. The end of a step is known by its row: the transaction that settles an attempt records it, and a look finds released
   steps without a live instance, whoever ended it. Either makes the run stale.
3. A stale run is locked, and the rules decide about all its steps at once. Releases and other new states are written in
   the same transaction. All statements take a batch of runs: a round has as many of them for one run as for many.
4. A run without undecided steps settles its instance like a worker. A run past its deadline settles it as failed.
5. A run whose instance has ended, also because a person cancelled it, is closed, and what is left of it is cancelled.
6. Every write names the state that it expects, so a node that takes over goes on from the rows.
7. Pages hold the oldest runs. A look also reads one without the tenants that have filled pages: others have a turn.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.encryption.encrypted_values import NOBODY
from horae.domain.events.events import Event
from horae.domain.graphs.graphs import Graph
from horae.domain.graphs.links import first_steps, is_plain
from horae.domain.graphs.runs import FAILED, RunState, StepState, outcome, progress
from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Instance
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import ErrorCode, Outcome, Success, Unrecoverable
from horae.domain.jobs.jobs import Job
from horae.domain.placement import Run
from horae.domain.schedules.timers import Timer
from horae.engine.graph_parameters import ResolvingStep
from horae.engine.graph_releases import CHILDREN_AT_ONCE, PreparedReleases, ReleasePreparer, plain_release, timers_of
from horae.engine.tenant_turns import TenantTurns
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.clock import boottime
from horae.runtime.randomness import id_maker, new_token
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.events import outbox
from horae.store.events.outbox import OutboxRow
from horae.store.graphs import children, runs, steps
from horae.store.graphs.children import LookPosition
from horae.store.graphs.runs import LeftOut, OpenRun, StartingRun
from horae.store.graphs.steps import NewStepRow, ReleaseRow, StepChange, StepRow
from horae.store.tx import Tx

RUNS_AT_ONCE: Final = 50
"""Runs that one transaction starts or decides about."""
STEPS_AT_ONCE: Final = 1000
LOOK_INTERVAL_S: Final = 0.5
"""Seconds between two rounds that look for waiting runs, unrecorded ends, deadlines and ended runs."""
UNREADABLE_PAUSE_S: Final = 10.0
"""Seconds for which the runs of a graph are left out that could not be read."""
RUNS_KEPT: Final = 100
"""Ended runs of a graph that people can look at."""
MAX_NAMES: Final = 20
"""Names of steps in an event and in a message."""
Versions = dict[tuple[UUID, int], Job]


class RunDecision(NamedTuple):
    """What one transaction found out about a run. `settled`: how its instance is to be settled; None: not yet.

    `resolving`: steps that may start, but need values first. `mapped`: mapped steps that run.
    """

    run: OpenRun
    releases: list[ReleaseRow]
    changes: list[StepChange]
    newly_blocked: list[str]
    is_blocked: bool
    settled: Outcome | None
    resolving: list[ResolvingStep]
    mapped: list[ResolvingStep]


class GraphRunner:
    """A duty in one cell, for the shards that the node holds there."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        definitions: Definitions,
        settler: Settler,
        announce: Callable[[Timer], None],
        held: Callable[[], Collection[UUID]] = lambda: (),
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.definitions = definitions
        self.settler = settler
        self.announce = announce
        self.held = held
        self.preparer = ReleasePreparer(definitions)
        self._seen: dict[int, LookPosition] = {}
        self._starting = TenantTurns()
        self._deciding = TenantTurns()
        self._more_waiting = False
        self._looked_at = -LOOK_INTERVAL_S
        self._unreadable: dict[UUID, float] = {}

    async def once(self) -> int:
        """One round; returns how much it did.

        Rounds follow each other closely while steps end. Then most of them only decide about stale runs, and start runs
        if more waited than the last look could start.
        """
        if not self.territory.shards or not self.cell.clock.trusted:
            return 0
        if boottime() - self._looked_at < LOOK_INTERVAL_S:
            return (await self._start() if self._more_waiting else 0) + await self._decide()
        return await self.run_all()

    async def run_all(self) -> int:
        """Start runs, record ends, decide, and close; returns how many runs and steps changed."""
        if not self.territory.shards or not self.cell.clock.trusted:
            return 0
        self._looked_at = boottime()
        done = await _in_turn(self._start, self._starting) + await self._record_ends()
        done += await _in_turn(self._decide, self._deciding)
        await self._expire()
        return done + await self._close()

    def _graph(self, known: Versions, job_id: UUID, version: int) -> Graph | None:
        """The graph of a run; None if it cannot be read now. Then its runs are left out for a while."""
        job = known.get((job_id, version))
        if job is None or job.definition.graph is None:
            self._unreadable[job_id] = boottime() + UNREADABLE_PAUSE_S
            return None
        return job.definition.graph

    def _left_out(self, tenants: Collection[UUID]) -> LeftOut:
        """These tenants, those that are held, and graphs that could not be read: they must not fill others' pages."""
        now = boottime()
        self._unreadable = {id_: until for id_, until in self._unreadable.items() if until > now}
        return LeftOut({*self.held(), *tenants}, self._unreadable)

    async def _start(self, without: Collection[UUID] = ()) -> int:
        """Start fires of graphs that are due, without those of some tenants; returns how many."""
        async with self.cell.statement() as tx:
            due = await runs.waiting(tx, self.territory.runs, self._left_out(without), RUNS_AT_ONCE)
        is_full = len(due) == RUNS_AT_ONCE
        self._more_waiting = is_full
        self._starting.note((run.tenant_id for run in due), is_full=is_full)
        due = [run for run in due if run.shard in self.territory.shards]
        if not due:
            return 0
        known = await self.definitions.load_from(self.cell, {(run.shard, run.job_id, run.job_version) for run in due})
        graphs = {
            run.id: graph for run in due if (graph := self._graph(known, run.job_id, run.job_version)) is not None
        }

        firsts = {id_: first_steps(graph) for id_, graph in graphs.items()}

        async def work(tx: Tx) -> tuple[int, list[Timer]]:
            starting = [
                StartingRun(
                    run.shard, run.id, tx.now + timedelta(seconds=graphs[run.id].deadline), firsts[run.id] is None
                )
                for run in due
                if run.id in graphs
            ]
            undecided = await runs.start(tx, starting, new_token()) if starting else {}
            started = [run for run in due if run.id in undecided]
            if not started:
                return 0, []
            await steps.insert(
                tx,
                [
                    NewStepRow(run.shard, run.id, run.tenant_id, position, step.name)
                    for run in started
                    for position, step in enumerate(graphs[run.id].steps)
                ],
            )
            new_id = id_maker(tx.now)
            released = [
                plain_release(run, graphs[run.id].steps[place], place, 0, new_id(run.shard))
                for run in started
                if not undecided[run.id]
                for place in firsts[run.id] or ()
            ]
            if released:
                await steps.release(tx, released)
            await runs.trim(tx, {(run.shard, run.job_id) for run in started}, RUNS_KEPT)
            return len(started), timers_of(released, tx)

        many, timers = await self.cell.run(work)
        for timer in timers:
            self.announce(timer)
        return many

    async def _record_ends(self) -> int:
        """Record ends that their own transactions have not recorded, as of cancelled steps; returns how many."""
        done = 0
        for run in self.territory.runs:
            async with self.cell.statement() as tx:
                found = await steps.ended(tx, run, STEPS_AT_ONCE)
                ours = [end for end in found if end.shard in self.territory.shards]
                if ours:
                    await steps.record(tx, ours)
            done += len(ours) + await self._record_children(run)
        return done

    async def _record_children(self, run: Run) -> int:
        """Record ends of children that nobody has recorded. Each call looks at the next some live ones."""
        after = self._seen.get(run.first, LookPosition(-1, NOBODY))
        async with self.cell.statement() as tx:
            found = await children.ended(tx, run, after, CHILDREN_AT_ONCE)
            self._seen[run.first] = found.last or LookPosition(-1, NOBODY)
            ours = [end for end in found.ends if end.shard in self.territory.shards]
            if ours:
                await steps.record(tx, ours)
        return len(ours)

    async def _decide(self, without: Collection[UUID] = ()) -> int:
        """Decide about stale runs, without those of some tenants, and settle those whose steps have all ended.

        Returns how many runs were decided about.
        """
        self.preparer.reader.begin_round()

        async def work(tx: Tx) -> tuple[list[RunDecision], list[Timer]]:
            stale = await runs.stale(tx, self.territory.runs, self._left_out(without), RUNS_AT_ONCE)
            self._deciding.note((run.tenant_id for run in stale), is_full=len(stale) == RUNS_AT_ONCE)
            stale = [run for run in stale if run.shard in self.territory.shards]
            if not stale:
                return [], []
            known = await self.definitions.load(tx, {(run.shard, run.job_id, run.job_version) for run in stale})
            rows: defaultdict[UUID, list[StepRow]] = defaultdict(list)
            for row in await steps.of_runs(tx, [(run.shard, run.id) for run in stale]):
                rows[row.run_id].append(row)
            new_id = id_maker(tx.now)
            decided = (
                self._decide_one(run, graph, rows[run.id], new_id)
                for run in stale
                if (graph := self._graph(known, run.job_id, run.job_version)) is not None
            )
            decisions = [one for one in decided if one is not None]
            resolving = [step for one in decisions for step in one.resolving]
            mapped = [step for one in decisions for step in one.mapped]
            made = await self.preparer.prepare(tx, resolving, mapped, known, new_id)
            return decisions, timers_of(await self._write(tx, decisions, made), tx)

        decisions, timers = await self.cell.run(work)
        for timer in timers:
            self.announce(timer)
        for one in decisions:
            if one.newly_blocked:
                log.warning("graph.blocked", run=public(Prefix.INSTANCE, one.run.id), steps=one.newly_blocked)
        ended = [(one.run, one.settled) for one in decisions if one.settled is not None]
        await self._settle(ended)
        if ended:
            await self._close([run.id for run, _ in ended])
        return len(decisions)

    def _decide_one(
        self, run: OpenRun, graph: Graph, rows: Sequence[StepRow], new_id: Callable[[int], UUID]
    ) -> RunDecision | None:
        """The decision about a run; None if its rows make no sense: the runs of its graph must not stop all others."""
        try:
            return _decide(run, graph, rows, new_id)
        except Exception:
            log.exception("graph.undecidable", run=public(Prefix.INSTANCE, run.id))
            self._unreadable[run.job_id] = boottime() + UNREADABLE_PAUSE_S
            return None

    async def _write(self, tx: Tx, decisions: Sequence[RunDecision], made: PreparedReleases) -> list[ReleaseRow]:
        """Write all decisions; returns the rows of new instances. A run to settle stays stale until it is closed."""
        if releases := [row for one in decisions for row in one.releases] + made.releases:
            await steps.release(tx, releases)
        if made.starts:
            await children.begin(tx, made.starts)
        if made.children:
            await children.release(tx, made.children)
        if changes := [row for one in decisions for row in one.changes] + made.changes:
            await steps.change(tx, changes)
        for one in decisions:
            if one.run.id in made.unavailable:
                self._unreadable[one.run.job_id] = boottime() + UNREADABLE_PAUSE_S
        over = [one for one in decisions if one.settled is None and one.run.id not in made.stale | made.unavailable]
        if decided := [(one.run.shard, one.run.id, one.is_blocked) for one in over]:
            await runs.decide(tx, decided)
        blocked = [
            OutboxRow(one.run.shard, one.run.tenant_id, one.run.job_id, one.run.id, {"steps": one.newly_blocked})
            for one in decisions
            if one.newly_blocked
        ]
        if blocked:
            await outbox.append_many(tx, Event.GRAPH_BLOCKED, blocked)
        return releases + [row for _, row in made.children]

    async def _expire(self) -> None:
        """Settle the instances of runs past their deadline as failed."""
        async with self.cell.statement() as tx:
            late = await runs.overdue(tx, self.territory.runs, RUNS_AT_ONCE)
        ours = [run for run in late if run.shard in self.territory.shards]
        message = "the run did not end before its deadline"
        await self._settle([(run, Unrecoverable(ErrorCode.TIMEOUT, message)) for run in ours])

    async def _settle(self, ended: Sequence[tuple[OpenRun, Outcome]]) -> None:
        if not ended:
            return
        wanted = {(run.shard, run.job_id, run.job_version) for run, _ in ended}
        known = await self.definitions.load_from(self.cell, wanted)
        await self.settler.settle(
            [AttemptOutcome(_instance(run), known.get((run.job_id, run.job_version)), how) for run, how in ended]
        )

    async def _close(self, among: Sequence[UUID] | None = None) -> int:
        """Close the runs whose instances have ended, among some or all; returns how many.

        Their children are cancelled before.
        """

        async def work(tx: Tx) -> int:
            over = await runs.close(tx, self.territory.runs, among, RUNS_AT_ONCE)
            if with_children := [run for run in over if run.has_children]:
                await children.cancel(tx, with_children, CHILDREN_AT_ONCE)
            if closed := [(run.shard, run.id) for run in over if not run.has_children]:
                await steps.cancel(tx, closed)
            return len(over)

        return await self.cell.run(work)


async def _in_turn(serve: Callable[[Collection[UUID]], Awaitable[int]], turns: TenantTurns) -> int:
    """Serve a page without the tenants that have filled pages, where there are some, and then the oldest rows."""
    done = await serve(tuple(turns.left_out)) if turns.left_out else 0
    return done + await serve(())


def _decide(run: OpenRun, graph: Graph, rows: Sequence[StepRow], new_id: Callable[[int], UUID]) -> RunDecision:
    by_name = {row.name: row for row in rows}
    states = {row.name: row.state for row in rows}
    plan = {step.name: step for step in graph.steps}
    released, changed = progress(graph.steps, states)
    after = states | changed | dict.fromkeys(released, StepState.RELEASED)
    found = [ResolvingStep(run, plan[name], by_name) for name in released]
    resolving = [one for one in found if not is_plain(one.step)]
    releases = [
        plain_release(run, step, by_name[step.name].position, by_name[step.name].generation, new_id(run.shard))
        for _, step, _ in found
        if is_plain(step)
    ]
    mapped = [
        ResolvingStep(run, step, by_name)
        for step in graph.steps
        if step.each is not None and states[step.name] == StepState.RELEASED
    ]
    changes = [
        StepChange(run.shard, run.id, by_name[name].position, state, by_name[name].generation)
        for name, state in changed.items()
    ]
    blocked = [name for name, state in changed.items() if state == StepState.BLOCKED]
    how = _outcome(after)
    is_blocked = StepState.BLOCKED in after.values()
    return RunDecision(run, releases, changes, blocked[:MAX_NAMES], is_blocked, how, resolving, mapped)


def _outcome(states: dict[str, StepState]) -> Outcome | None:
    decided = outcome(states)
    if decided == RunState.OPEN:
        return None
    if decided == RunState.SUCCESS:
        return Success()
    failed = [name for name, state in states.items() if state in FAILED]
    return Unrecoverable(ErrorCode.HANDLER, f"steps failed: {', '.join(failed[:MAX_NAMES])}")


def _instance(run: OpenRun) -> Instance:
    """The instance of a run, as far as settling it needs."""
    return Instance(
        shard=run.shard,
        id=run.id,
        tenant_id=run.tenant_id,
        job_id=run.job_id,
        job_version=run.job_version,
        idem_key="",
        fire_time=run.fire_time,
        due_at=run.fire_time,
        state=State.RUNNING,
        attempt=run.attempt,
        token=run.token,
        deadline=run.deadline_at,
        worker_id="graph",
    )
