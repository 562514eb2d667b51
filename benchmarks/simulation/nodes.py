"""A simulated node: the product's admission, agendas and dispatchers over simulated cells."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, cast
from uuid import UUID

from asyncpg import PostgresConnectionError

from benchmarks.simulation.calls import SimulatedFirer, SimulatedFlights, SimulatedSettler, Witness
from benchmarks.simulation.cells import SimulatedCell
from benchmarks.simulation.event_loop import NodeLoop
from benchmarks.simulation.load import plain_id
from benchmarks.simulation.targets import SimulatedTargets
from horae.domain.jobs.jobs import Job
from horae.domain.nodes.leases import plan
from horae.domain.schedules.timers import Timer
from horae.engine.admission.admission import Admission
from horae.engine.admission.target import Turns
from horae.engine.agenda import Agenda
from horae.engine.cell_runner import CHUNK, MAX_NAP_S, MIN_NAP_S, TAKEN_AT_ONCE
from horae.engine.completer import Completer, result_pace
from horae.engine.dispatcher import Dispatcher, DispatcherParts
from horae.engine.due_timers import DueChunk, DueTimers
from horae.engine.leases.keeper import HEARTBEAT_TTLS, PORTION, PORTION_PAUSE_TTLS, RETRY_TTLS
from horae.engine.node import LATE_FIRES_INTERVAL_S, SLOTS
from horae.runtime import randomness

TTL_S: Final = 8.0
"""The default of `HORAE_LEASE_TTL`."""
READ_AGAIN_S: Final = 1.0
"""Seconds after which rows are read again whose batch failed."""


class SimulatedRunner:
    """A node in one cell: its agenda, its dispatcher, and the shards that it holds there."""

    def __init__(
        self,
        node: "SimulatedNode",
        cell: SimulatedCell,
        jobs: Mapping[UUID, Job],
        targets: SimulatedTargets,
        witness: Witness,
    ) -> None:
        loop, admission = node.loop, node.admission
        self.node, self.cell, self.jobs, self.loop = node, cell, jobs, loop
        self.shards: frozenset[int] = frozenset()
        self.seen_leases: tuple[frozenset[UUID], int] | None = None
        self._is_planned = self._reads_again = False
        self._alarm: Any = None
        self.agenda = Agenda(cell.clock.now, self.wake, self.read_again)
        self.due_timers = DueTimers(lambda _tenant: 1, self._has_enough, self.wake)
        firer = SimulatedFirer(cell, loop, self.agenda.offer)
        settler = SimulatedSettler(cell, loop, self.agenda.offer, witness)
        completer = Completer(cast("Any", settler), result_pace(admission.now))
        self.flights = SimulatedFlights(cell, loop, admission, completer, targets, witness, node.turn)
        parts = DispatcherParts(cast("Any", firer), cast("Any", firer), cast("Any", self))
        self.dispatcher = Dispatcher(
            cast("Any", cell), self.agenda, admission, parts, cast("Any", self.flights), self._is_alive, node.turn
        )

    def hold(self, shards: Collection[int]) -> None:
        """Work on these shards from now on; read the rows of those that are new."""
        gained = frozenset(shards) - self.shards
        self.shards = frozenset(shards)
        for shard in sorted(gained):
            self.agenda.offer(self.cell.rows.get(shard, {}).values())

    def offer(self, timers: Sequence[Timer]) -> None:
        """Rows were read ahead."""
        self.agenda.offer(timers)

    def read_between(self, _earliest: datetime, _latest: datetime) -> None:
        """A batch failed: read its rows again."""
        self.read_again()

    def read_again(self) -> None:
        """Read the rows of all shards again, soon."""
        if not self._reads_again:
            self._reads_again = True
            self.loop.call_later(READ_AGAIN_S, self._read)

    def wake(self) -> None:
        """Look at the agenda as soon as the thread is free."""
        if not self._is_planned:
            self._is_planned = True
            self.loop.call_soon(self._look)

    def _read(self) -> None:
        self._reads_again = False
        if self.cell.is_down:
            self.read_again()
            return
        for shard in sorted(self.shards):
            self.agenda.offer(self.cell.rows.get(shard, {}).values())

    def _look(self) -> None:
        """Offer what is due to admission, a chunk at a time, as `CellRunner.run` does; then sleep until more is due."""
        self._is_planned = False
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self.due_timers.add(self.agenda.take(TAKEN_AT_ONCE), self.cell.clock.now())
        chunk = self.due_timers.take(CHUNK)
        if chunk.timers:
            self.loop.use(len(chunk.timers) * self.cell.times.offer_s)
            self._is_planned = True
            self.loop.call_soon(self._offer, chunk)
            return
        timer_s, gate_s = self.agenda.wait_s(), self.node.admission.wait_s()
        if gate_s == 0:
            self.node.turn()
            gate_s = MIN_NAP_S
        wait_s = min(one for one in (timer_s, gate_s, MAX_NAP_S) if one is not None)
        self._alarm = self.loop.call_later(wait_s, self.wake)

    def _offer(self, chunk: DueChunk) -> None:
        for timer in chunk.timers:
            if timer.shard in self.shards:
                self.node.admission.offer(timer, self.jobs[timer.job_id], self.dispatcher, is_overdue=chunk.are_overdue)
            else:
                self.agenda.forget(timer)
        self.node.turn()
        self._is_planned = False
        self.wake()

    def _has_enough(self, tenant: UUID, class_: Any, when_few: Callable[[], None], *, are_overdue: bool) -> bool:
        return self.node.admission.has_enough(Turns(tenant, class_, self.dispatcher, are_overdue), when_few)

    def _is_alive(self) -> bool:
        """Whether the lease is valid."""
        return self.loop.kernel.now - self.cell.heard.get(self.node.incarnation, 0.0) < TTL_S


class SimulatedNode:
    """One node over all cells."""

    def __init__(
        self,
        number: int,
        loop: NodeLoop,
        cells: Sequence[SimulatedCell],
        jobs: Mapping[UUID, Job],
        targets: SimulatedTargets,
        witness: Witness,
    ) -> None:
        self.incarnation: UUID = plain_id(number + 1)
        self.loop = loop
        self._arguments = jobs, targets, witness
        self._is_turning = False
        self.admission = Admission(SLOTS, now=loop.time, wall=loop.time)
        self.runners = {cell.name: SimulatedRunner(self, cell, jobs, targets, witness) for cell in cells}

    def start(self) -> None:
        """Begin the periodic duties, each at a moment of its own."""
        self.loop.call_later(randomness.fraction(), self._use_idle)
        self.loop.call_later(randomness.fraction() * LATE_FIRES_INTERVAL_S, self._recheck)
        for runner in self.runners.values():
            self.start_runner(runner)

    def start_runner(self, runner: SimulatedRunner) -> None:
        """Begin to renew the lease of a cell, and to look at its agenda."""
        runner.cell.heard[self.incarnation] = self.loop.kernel.now
        self.loop.call_later(randomness.fraction() * TTL_S * HEARTBEAT_TTLS, self._start_renewal, runner)
        self.loop.call_later(0.0, runner.wake)

    def add_cell(self, cell: SimulatedCell) -> None:
        """A cell is added to the deployment."""
        runner = self.runners[cell.name] = SimulatedRunner(self, cell, *self._arguments)
        self.start_runner(runner)

    def turn(self) -> None:
        """Run admission soon; several requests are merged into one run."""
        if not self._is_turning:
            self._is_turning = True
            self.loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._is_turning = False
        self.admission.dispatch()

    def _recheck(self) -> None:
        """Record fires that gates hold too long, and let calls at gates try again, as `Node.once` does."""
        for ready in self.admission.pop_unrecorded():
            ready.dispatcher.record(ready)
        self.admission.recheck_gates()
        self.turn()
        self.loop.call_later(LATE_FIRES_INTERVAL_S, self._recheck)

    def _use_idle(self) -> None:
        """Every second: what a node does beside its calls."""
        times = next(iter(self.runners.values())).cell.times
        self.loop.use(times.node_base_share + times.node_cell_share * len(self.runners))
        self.loop.call_later(1.0, self._use_idle)

    def _start_renewal(self, runner: SimulatedRunner) -> None:
        task = self.loop.create_task(self._renew(runner))
        task.add_done_callback(partial(_plan_next, self, runner))

    async def _renew(self, runner: SimulatedRunner) -> float:
        """One round of the lease keeper; returns the seconds until the next one."""
        cell, me = runner.cell, self.incarnation
        try:
            await cell.statement(self.loop, 1)
        except PostgresConnectionError:
            return TTL_S * RETRY_TTLS
        now = self.loop.kernel.now
        cell.heard[me] = now
        living = frozenset(node for node, heard in cell.heard.items() if now - heard < TTL_S)
        seen = (living, cell.lease_changes)
        if runner.seen_leases == seen:
            return TTL_S * HEARTBEAT_TTLS * (0.9 + 0.1 * randomness.fraction())
        found = plan(cell.owners, living, living, me)
        if found.settled and not found.give:
            runner.seen_leases = seen
        if found.give:
            cell.set_owner(found.give, None)
        runner.hold(runner.shards & found.keep)
        await self._take(runner, found.take)
        left, portion = sorted(found.inherit), PORTION
        while left:
            await asyncio.sleep(TTL_S * PORTION_PAUSE_TTLS * (0.5 + randomness.fraction()))
            await self._take(runner, left[:portion])
            left, portion = left[portion:], portion * 2
        return TTL_S * (HEARTBEAT_TTLS if found.settled else RETRY_TTLS) * (0.9 + 0.1 * randomness.fraction())

    async def _take(self, runner: SimulatedRunner, shards: Collection[int]) -> None:
        if not shards:
            return
        await runner.cell.statement(self.loop, 1)
        runner.cell.set_owner(shards, self.incarnation)
        runner.hold(runner.shards | frozenset(shards))


def _plan_next(node: SimulatedNode, runner: SimulatedRunner, task: "asyncio.Task[float]") -> None:
    failed = isinstance(task.exception(), PostgresConnectionError)
    node.loop.call_later(TTL_S * RETRY_TTLS if failed else task.result(), node._start_renewal, runner)
