"""One scheduler process: it leases shards in every cell, and fires, sends, settles and rescues there."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Final

from horae.delivery.push import Sender
from horae.domain.ids import Prefix, public
from horae.domain.limits.limits import Key
from horae.domain.limits.shares import DEFAULT_LANE_SHARE, LaneShare
from horae.domain.measures.in_force import MeasuresInForce
from horae.domain.nodes.wakes import LONGEST_SAFETY_LOOK, Wake
from horae.engine.admission.admission import LONG_SLOTS, Admission
from horae.engine.admission.target import CallDispatcher
from horae.engine.allowances import Allowances
from horae.engine.cell_duty import CellDuty
from horae.engine.cell_runner import CellRunner
from horae.engine.holds import HoldWriter
from horae.engine.leases import Leases, NodeIdentity
from horae.engine.load import LoadMeter
from horae.engine.progress import ALARM_AFTER_S, ProgressWatch
from horae.engine.pulse import Pulse
from horae.engine.quotas import Quotas
from horae.engine.strain import StrainMeter
from horae.repositories.job_durations import JobDurations
from horae.repositories.secret_book import SecretBook
from horae.runtime import randomness
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.clock import boottime
from horae.runtime.loop import Duty, Loop
from horae.runtime.metrics import MetricSource
from horae.runtime.prompts import PromptedDuty
from horae.runtime.telemetry import identify, log
from horae.runtime.waker import Waker
from horae.store.cells import Cell
from horae.store.connections.listener import Listener
from horae.store.nodes import leases
from horae.store.nodes.pulses import Sign
from horae.store.store import Store
from horae.store.tx import GONE

SLOTS: Final = 2000
DRAIN_STUCK_S: Final = 60.0
"""Seconds without progress after which `drain` stops and leaves due what waits for a limit."""
MOVED_LOOK_GAP_S: Final = 0.2
"""Seconds between two renewals that wakes about moved shards cause."""
SCAN_INTERVAL_S: Final = 5.0
"""The pause between two rounds of the feeder."""
DEFINITIONS_AHEAD_INTERVAL_S: Final = 0.9
"""The pause between two rounds that load the definitions of timers before they are due."""
RESCUE_INTERVAL_S: Final = 2.0
LISTENER_INTERVAL_S: Final = 5.0
QUOTAS_INTERVAL_S: Final = 0.05
"""The pause between two rounds that renew shared limits."""
LATE_FIRES_INTERVAL_S: Final = 0.5
"""The pause between two rounds that record late fires."""
PROGRESS_INTERVAL_S: Final = 2.0
BACKFILLS_INTERVAL_S: Final = 1.0
TENANCIES_INTERVAL_S: Final = 1.0
ROLLING_INTERVAL_S: Final = 1.0
"""The pause between two rounds of rolling sets."""
GRAPHS_INTERVAL_S: Final = 1.0
"""The pause between two rounds of graphs; the end of a step on this node begins one at once."""
PULSE_INTERVAL_S: Final = 1.0
ACCEPTED_INTERVAL_S: Final = 1.0
EXPIRY_INTERVAL_S: Final = 5.0
"""Seconds between two rounds that expire instances; the duty itself decides when a walk begins."""
ZONE_RULES_INTERVAL_S: Final = 5.0
"""Seconds between two rounds that move cursors to new zone rules; a round with nothing left sends no statement."""
HOLDS_INTERVAL_S: Final = 2.0
"""Seconds between two rounds that write holds; a round without a change sends no statement."""
UNHURRIED: Final = {Sign.RUNNING, Sign.ROWS_WRITTEN}
"""Signs that are set all the time while a node works. They do not wake their duties before the pause is over."""


class Node:
    """One process for all cells. Its identity is new at every start, even on the same host.

    `shard_changes` counts the shards that it has gained and lost, by cell. `metric_sources` are those of its upkeep.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        ttl: timedelta,
        sender: Sender,
        allowances: Allowances,
        *,
        slots: int = SLOTS,
        long_slots: int = LONG_SLOTS,
        enforced: bool = True,
        secrets: SecretBook | None = None,
        owner: Store | None = None,
        safety_look: timedelta = LONGEST_SAFETY_LOOK,
        relayed_from: Callable[[str], int] = lambda _cell: 0,
        share: LaneShare = DEFAULT_LANE_SHARE,
    ) -> None:
        """Build the node; `start` lets it run.

        `allowances`: what the node learns about tenants; `sender` takes their egress rules from it. `owner`: the same
        cells with the role that may read every sign of the pulse, if that is another role. `relayed_from` returns the
        transaction of a cell from which on requests for tasks are still to be relayed. `share` is what backfills get.
        """
        self.store = store
        self.safety_look = safety_look
        self.pulses = {cell.name: Pulse(cell, partial(relayed_from, cell.name)) for cell in (owner or store).cells}
        self._secrets = secrets
        self.sender = sender
        self.identity = NodeIdentity(randomness.new_token(), name, ttl)
        self.leases = Leases(store.cells, self.identity, self._on_change, enforced=enforced)
        self.quotas = Quotas(store, self.identity.incarnation, self._on_grant)
        self.allowances = allowances
        self.admission = Admission(
            slots,
            long_slots=long_slots,
            weight_of=self.allowances.weight,
            limits_of=self.allowances.limits,
            permits=self.quotas,
            wall=store.clock.seconds,
            share=share,
        )
        self._durations = JobDurations()
        scan_wakers = {cell.name: Waker() for cell in store.cells}  # made first: posts wake the loops of their feeders
        self.runners = {cell.name: self._new_runner(cell, sender, scan_wakers[cell.name].wake) for cell in store.cells}
        cell_of_dispatcher: dict[CallDispatcher, Cell] = {
            runner.dispatcher: runner.cell for runner in self.runners.values()
        }
        self.holds = HoldWriter(self.admission, self.identity.incarnation, cell_of_dispatcher)
        self._listeners = {cell.name: Listener(cell, partial(self._on_wake, cell)) for cell in store.cells}
        self._looks = {
            name: Loop("feeder", CellDuty("feeder", runner.cell, runner.feeder), SCAN_INTERVAL_S, scan_wakers[name])
            for name, runner in self.runners.items()
        }
        self._accepted_loops = {
            name: Loop("accepted", CellDuty("accepted", runner.cell, runner.accepted), ACCEPTED_INTERVAL_S)
            for name, runner in self.runners.items()
        }
        self.progress = ProgressWatch({name: sign for cell in store.cells for name, sign in self._signs(cell)})
        self.metric_sources: list[MetricSource] = []
        self.shard_changes: Counter[tuple[str, str]] = Counter()
        self.load = LoadMeter()
        self.strain = StrainMeter(public(Prefix.NODE, self.identity.incarnation), self.runners, LATE_FIRES_INTERVAL_S)
        self._tasks: list[asyncio.Task[None]] = []
        self._started = self._turning = False
        self.followed_stores = [store]
        """The stores of this process that learn from the leases which shards a cell holds."""
        self._looked_for_moved_at = -MOVED_LOOK_GAP_S

    async def start(self) -> None:
        """Start the leases first, then everything else. From now on each line of the log names this node."""
        identify(node=self.identity.incarnation)
        self._started = True
        self.strain.collections.start()
        await self.leases.start()
        in_cells = [
            *self._looks.items(),
            *((name, loop) for name, runner in self.runners.items() for loop in self._loops(runner)),
            *((name, Loop("listener", listener, LISTENER_INTERVAL_S)) for name, listener in self._listeners.items()),
        ]
        for name, loop in in_cells:
            self.progress.watch(f"{loop.name} of {name}", loop)
        ours = [
            Loop("quotas", self.quotas, QUOTAS_INTERVAL_S),
            Loop("record", self, LATE_FIRES_INTERVAL_S),
            Loop("holds", self.holds, HOLDS_INTERVAL_S),
        ]
        loops = [*ours, *(loop for _, loop in in_cells), Loop("progress", self.progress, PROGRESS_INTERVAL_S)]
        self._tasks = [asyncio.create_task(loop.run()) for loop in loops]  # `stop` ends that of the quotas last
        self._tasks += [asyncio.create_task(runner.run()) for runner in self.runners.values()]
        log.info("node.started", host=self.identity.name, cells=len(self.runners))

    async def stop(self, grace: float) -> None:
        """Stop the node.

        1. Release all shards at once, so that other nodes take them.
        2. Drop waiting calls and end all duties.
        3. Wait up to `grace` seconds for calls in flight, and until they end for long ones: nobody else would hear of
           their end. The rest is rescued by other nodes.
        4. Remove holds, give back shared limits, close connections, delete the node's rows.
        """
        tasks, self._tasks = self._tasks, []
        if not tasks:
            return  # the node was never started, or `stop` was called before
        self.strain.collections.stop()
        await self.leases.leave()
        self.admission.clear()
        quotas, *others = tasks
        await cancel_and_wait(*others)
        try:
            async with asyncio.timeout(max(grace, self._long_calls_s())):
                await asyncio.gather(*(runner.dispatcher.wait_until_idle() for runner in self.runners.values()))
        except TimeoutError:
            log.warning("node.grace_ended", advice="what is still in flight is due again at once, uncounted")
        await cancel_and_wait(quotas)  # until now calls in flight kept their permits
        for runner in self.runners.values():
            runner.flights.close()
        with suppress(Exception):  # removes the holds; in a cell that is down they end with the node's lease
            await self.holds.once()
        await self.quotas.close()
        await self.sender.client.close()
        for listener in self._listeners.values():
            await listener.close()
        await self.leases.stop()
        log.info("node.stopped", host=self.identity.name)

    def _long_calls_s(self) -> float:
        """Seconds until the last deadline of the long calls in flight; zero without any."""
        left = {runner.cell.name: runner.flights.long_deadlines() for runner in self.runners.values()}
        if (calls := sum(map(len, left.values()))) == 0:
            return 0.0
        seconds = max(max(times) - self.store.clock.seconds() for times in left.values() if times)
        log.info("node.long_calls", calls=calls, seconds=round(seconds), advice="the node stays until they have ended")
        return seconds

    async def once(self) -> int:
        """Record fires that gates hold too long, let calls at gates try again, land overdue calls; returns 0.

        It also watches for outages of cells.
        """
        for ready in self.admission.pop_unrecorded():  # before `recheck_gates`: such a call has left its queue
            ready.dispatcher.record(ready)
        self.admission.recheck_gates()
        load = self.admission.slots.load
        self.load.sample(load)
        self.strain.sample(boottime(), load)
        for runner in self.runners.values():
            runner.flights.land_overdue()
            runner.flights.outages.look()
        self.turn()
        return 0

    async def drain(self) -> int:
        """Do everything that is due now in every cell, without `start`; returns how much was done.

        Calls that wait for a shared limit go when the limit allows it. If none goes for a minute, they stay due.
        """
        renewing = asyncio.create_task(Loop("quotas", self.quotas, QUOTAS_INTERVAL_S).run())
        done, went_at = 0, boottime()
        try:
            while True:
                more = sum([await self._round_or_none(runner) for runner in self.runners.values()])
                done, went_at = done + more, boottime() if more else went_at
                if not more and not self.admission.limited:
                    return done
                if boottime() - went_at > DRAIN_STUCK_S:
                    log.warning("drain.incomplete", left=self.admission.limited, advice="they stay due: run it again")
                    return done
                if not more:
                    await asyncio.sleep(QUOTAS_INTERVAL_S)
                self.admission.recheck_gates()
        finally:
            await cancel_and_wait(renewing)

    async def fire_due(self) -> int:
        """After `drain`, on the shards that it took: fire and send what is due by now; returns how much was done.

        This looks after nothing else: no leases, lost attempts, backfills, rolling jobs or held tenants.
        """
        return sum([await runner.fire_due() for runner in self.runners.values()])

    async def leave(self) -> None:
        """After `drain`: release all shards and limits."""
        for runner in self.runners.values():
            with suppress(*GONE):  # a lease that cannot be released runs out
                async with runner.cell.tx() as tx:
                    await leases.release(tx, self.identity.incarnation)
            runner.hold(())
        await self.quotas.close()
        await self.sender.client.close()

    def follow_measures(self, measures: MeasuresInForce) -> None:
        """Withhold what these measures say from now on."""
        self.admission.set_measures(measures)
        for runner in self.runners.values():
            runner.follow_measures(measures)
        self.turn()

    def prompted_loop(self, name: str, duty: Duty, pause: float, sign: Sign, *cells: str) -> Loop:
        """A loop whose duty runs when a sign prompts it, in one of these cells (none named: in any).

        Without a sign it runs once in a safety period.
        """
        duty = PromptedDuty(duty, self.safety_look.total_seconds())
        loop = Loop(name, duty, pause)
        for cell in cells or self.pulses:
            self.pulses[cell].on(sign, duty.prompt)
            if sign not in UNHURRIED:
                self.pulses[cell].on(sign, loop.waker.wake)
        return loop

    def _loops(self, runner: CellRunner) -> Iterator[Loop]:
        """The loops of a cell, beside the feeder and the listener."""
        cell = runner.cell.name

        def prompted(name: str, duty: Duty, pause: float, sign: Sign) -> Loop:
            return self.prompted_loop(name, CellDuty(name, runner.cell, duty), pause, sign, cell)

        self.pulses[cell].on(Sign.ROWS_WRITTEN, runner.feeder.note_writes)
        yield Loop("pulse", CellDuty("pulse", runner.cell, self.pulses[cell]), PULSE_INTERVAL_S)
        yield Loop("ahead", CellDuty("ahead", runner.cell, runner), DEFINITIONS_AHEAD_INTERVAL_S)
        yield self._accepted_loops[cell]
        yield Loop("expiry", CellDuty("expiry", runner.cell, runner.expirer), EXPIRY_INTERVAL_S)
        yield Loop("zone rules", CellDuty("zone rules", runner.cell, runner.replanner), ZONE_RULES_INTERVAL_S)
        yield prompted("rescue", runner.rescuer, RESCUE_INTERVAL_S, Sign.RUNNING)
        yield prompted("tenancies", runner.tenancies, TENANCIES_INTERVAL_S, Sign.HELD_TENANTS)
        yield prompted("backfill", runner.backfiller, BACKFILLS_INTERVAL_S, Sign.BACKFILLS)
        yield prompted("rolling", runner.roller, ROLLING_INTERVAL_S, Sign.ROLLING_SETS)
        yield prompted("graphs", runner.graph_runner, GRAPHS_INTERVAL_S, Sign.GRAPHS)

    def turn(self) -> None:
        """Run admission soon, because a call may pass now. Several requests are merged into one run."""
        if not self._turning:
            self._turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._turning = False
        self.admission.dispatch()

    def _new_runner(self, cell: Cell, sender: Sender, hungry: Callable[[], None]) -> CellRunner:
        alive = partial(self._alive, cell)
        cipher = self.store.cipher
        return CellRunner(
            cell,
            self.identity,
            self.admission,
            self.allowances,
            sender,
            self.quotas.pacer,
            alive,
            self.turn,
            cipher,
            self._durations,
            hungry,
            partial(self.pulses[cell.name].prompt, Sign.GRAPHS),
            self._secrets,
            self.safety_look,
        )

    def _alive(self, cell: Cell) -> bool:
        """Whether this node may act in a cell. During `drain` no thread keeps a lease, and the answer is yes."""
        return not self._started or self.leases.alive(cell)

    def _signs(self, cell: Cell) -> Iterator[tuple[str, Callable[[], bool]]]:
        """Conditions that must hold for work in a cell to make progress, with their names."""
        runner, listener = self.runners[cell.name], self._listeners[cell.name]
        yield f"lease of {cell.name}", partial(self.leases.alive, cell)
        yield f"clock of {cell.name}", lambda: cell.clock.trusted
        yield f"notifications of {cell.name}", lambda: not listener.is_stalled
        yield f"timers of {cell.name}", lambda: boottime() - runner.offered_at < ALARM_AFTER_S

    def join(self, cell: Cell) -> None:
        """Note that a cell that was down at the start has answered: its shards are known now."""
        [own] = [one for one in self.store.cells if one.name == cell.name]
        self._on_change(own, [], [])

    def _on_change(self, cell: Cell, gained: list[int], lost: list[int]) -> None:
        self.shard_changes[cell.name, "gained"] += len(gained)
        self.shard_changes[cell.name, "lost"] += len(lost)
        if (here := self.leases.open_shards(cell)) is not None:
            for store in self.followed_stores:
                store.note_shards(cell.name, here)
        self.runners[cell.name].hold(self.leases.held_shards(cell), self.store.shards_of(cell))
        if self._tasks and not self.leases.alive(cell):
            cell.discard_idle_connections()  # what broke the lease connection may have broken others
        self.pulses[cell.name].prompt_all()
        self._accepted_loops[cell.name].waker.wake()
        self._looks[cell.name].waker.wake()

    def _on_wake(self, cell: Cell, wake: Wake) -> None:
        runner = self.runners[cell.name]
        self._look_for_moved(cell, wake)
        if wake.shards is None or wake.shards & runner.territory.shards:
            runner.feeder.read_between(wake.earliest, wake.latest)
            self._looks[cell.name].waker.wake()
            self.pulses[cell.name].prompt(Sign.GRAPHS)

    def _look_for_moved(self, cell: Cell, wake: Wake) -> None:
        """Renew the lease at once if a wake names a shard that moved to this cell: somebody has to take it."""
        moved = any(not self.store.holds(cell, shard) for shard in wake.shards or ())
        if moved and self._started and boottime() - self._looked_for_moved_at > MOVED_LOOK_GAP_S:
            self._looked_for_moved_at = boottime()
            self.leases.prompt(cell)

    def _on_grant(self, key: Key) -> None:
        self.admission.on_grant(key)
        self.turn()

    async def _round_or_none(self, runner: CellRunner) -> int:
        """One round of `drain` in a cell. If the cell is down, its rows stay due."""
        try:
            return await self._round(runner)
        except GONE:
            runner.hold(())
            return 0

    async def _round(self, runner: CellRunner) -> int:
        """One round of `drain` in a cell. The thousands of shards are sent only if some of them are not ours yet."""
        cell, here = runner.cell, self.store.shards_of(runner.cell)
        async with cell.statement() as tx:
            sent = cell.clock.ticks()
            reading = await leases.heartbeat(tx, *self.identity)
            held = await leases.count_held(tx, self.identity.incarnation)
        reading.apply_to(cell.clock, sent)
        if held != len(here) or not runner.territory.shards.issuperset(here):
            async with cell.tx() as tx:
                runner.hold(await leases.take(tx, self.identity.incarnation, here), here)
        return await runner.drain()
