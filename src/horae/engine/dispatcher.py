"""The dispatcher of one cell: fires or claims admitted calls in batches. Flights send what is RUNNING then."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from horae.engine.admission.admission import Admission
from horae.engine.admission.target import DueCall
from horae.engine.agenda import Agenda
from horae.engine.claim import Claimer
from horae.engine.feeder import Feeder
from horae.engine.fire import FiredBatch, Firer
from horae.engine.fire_parts import Flight
from horae.engine.flights import Flights
from horae.runtime.batch_queues import RoundRobinQueue
from horae.runtime.batcher import Batcher
from horae.runtime.pace import BatchPace
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.tx import CUT, GONE

Value = TypeVar("Value")
BATCH: Final = 200
BATCHES_AT_ONCE: Final = 2
"""Batches that are fired or claimed at the same time. A third one sends no more, since the processor is the bound by
then, and makes every call wait longer."""
WALKS_AT_ONCE: Final = 20
"""Cursors per batch where each cursor needs statements of its own."""
BATCHES_OF_TENANT: Final = 2
"""Such batches of one tenant at the same time, of three that may run: the third is left to other tenants."""


class DispatcherParts(NamedTuple):
    """The parts that a dispatcher works with."""

    firer: Firer
    claimer: Claimer
    feeder: Feeder


class Dispatcher:
    """One per cell. `alive` says whether the lease is valid; without it nothing is fired.

    `done` counts flights and fired cursors, for `drain`. `turn` is called when a place may have become free.
    """

    def __init__(
        self,
        cell: Cell,
        agenda: Agenda,
        admission: Admission,
        parts: DispatcherParts,
        flights: Flights,
        alive: Callable[[], bool],
        turn: Callable[[], None],
    ) -> None:
        self.cell = cell
        self.agenda = agenda
        self.admission = admission
        self.parts = parts
        self.flights = flights
        self.alive = alive
        self.turn = turn
        self.done = 0
        fire_pace = BatchPace(quiet_s=0.0055, batches_per_row=0.035, busy_s=0.01, now=admission.now)
        self._admitted = Batcher("fire", self._fire_or_claim, fire_pace, most=BATCH, at_once=BATCHES_AT_ONCE)
        record_pace = BatchPace(quiet_s=0.05, batches_per_row=0.01, busy_s=0.05, now=admission.now)
        self._unslotted = Batcher("record", self._record, record_pace, most=BATCH)
        alone = RoundRobinQueue[tuple[DueCall, bool]](_tenant_of_fire, BATCHES_OF_TENANT)
        alone_pace = BatchPace(quiet_s=0, batches_per_row=0.5, busy_s=0, now=admission.now)
        self._alone = Batcher("fire alone", self._fire_alone, alone_pace, most=WALKS_AT_ONCE, queue=alone)
        behind = RoundRobinQueue[DueCall](_tenant_of, BATCHES_OF_TENANT)
        behind_pace = BatchPace(quiet_s=0, batches_per_row=0.5, busy_s=0.01, now=admission.now)
        self._behind = Batcher("catch up", self._catch_up, behind_pace, most=WALKS_AT_ONCE, queue=behind)
        self.accept = self._admitted.add
        self.record = self._unslotted.add

    @property
    def has_room(self) -> bool:
        """Whether more calls may be admitted now. Fires that are decided alone do not count: their slots bound them."""
        return len(self._admitted) < BATCH and not self.flights.parts.completer.is_full

    async def wait_until_idle(self) -> None:
        """Wait until no batch runs, no call is in flight and every result is written."""
        batchers = (self._admitted, self._unslotted, self._alone, self._behind)
        while any(batcher.busy for batcher in batchers) or self.flights:
            for batcher in batchers:
                await batcher.drain()
            await self.flights.wait_until_landed()
        await self.flights.parts.completer.drain()

    async def _fire_or_claim(self, readies: Sequence[DueCall]) -> None:
        """Fire or claim a batch, and send the calls that are RUNNING now. All others give their slots back."""
        held = self.agenda.held
        ours = [ready for ready in readies if ready.timer.tenant_id not in held] if held else readies
        cursors = [ready for ready in ours if ready.timer.fired is not None]
        waiting = [ready for ready in ours if ready.timer.fired is None]
        if cursors:
            await self._fire(cursors, slots=True)
        if waiting:
            self._send_batch(waiting, await self._try(partial(self._claim, waiting), waiting) or ())
        if len(ours) < len(readies):
            self._send_batch([ready for ready in readies if ready.timer.tenant_id in held], ())

    async def _record(self, readies: Sequence[DueCall]) -> None:
        """Fire cursors without a slot: jobs of a queue, and fires that a gate holds back. Their schedules go on."""
        await self._fire(readies, slots=False)

    async def _fire(self, readies: Sequence[DueCall], *, slots: bool) -> None:
        """Fire a batch and send it. Cursors that take longer go to separate batches, so that they do not delay it."""
        work = partial(self.parts.firer.fire, readies, slots=slots)
        fired = await self._try(work, readies) or FiredBatch([], [], [], [])
        if fired.unanswered:
            self._postpone(fired.unanswered)
        others = {id(ready) for ready in (*fired.alone, *fired.behind)}
        done = [ready for ready in readies if id(ready) not in others] if others else readies
        self._send_batch(done, fired.flights, slots=slots)
        for ready in fired.alone:
            self._alone.add((ready, slots))
        for ready in fired.behind:
            if slots:
                self.admission.withdraw(ready)  # its missed fires are inserted as waiting, and claimed one by one
            self._behind.add(ready)

    async def _fire_alone(self, readies: Sequence[tuple[DueCall, bool]]) -> None:
        """Fire jobs whose fires are decided one by one. Each is sent before the next one is decided."""
        for ready, slot in readies:
            flights = await self._try(partial(self.parts.firer.fire_alone, ready, slot=slot), [ready])
            self._send_batch([ready], flights or (), slots=slot)

    async def _catch_up(self, readies: Sequence[DueCall]) -> None:
        """Move cursors that are behind, except those of tenants that were paused or removed meanwhile."""
        ours = [ready for ready in readies if ready.timer.tenant_id not in self.agenda.held]
        if ours:
            await self._try(partial(self.parts.firer.catch_up, ours), ours)
        self._send_batch(readies, (), slots=False)

    async def _claim(self, waiting: Sequence[DueCall]) -> list[Flight]:
        claimed = await self.parts.claimer.claim(waiting)
        await self.flights.parts.opener.learn(claimed)
        return claimed

    async def _try(self, work: Callable[[], Awaitable[Value]], readies: Sequence[DueCall]) -> Value | None:
        """Run a piece of work; None if it failed: its effect is unknown, and a later scan finds what is still due."""
        try:
            if self.alive():
                return await work()
        except (*GONE, *CUT) as error:
            if not self.cell.reach.is_down:  # the log says so once, not for each batch
                log.warning("fire.postponed", count=len(readies), reason=str(error) or type(error).__name__)
        except Exception:
            log.exception("fire.failed", count=len(readies))
        self._postpone(readies)
        return None

    def _send_batch(self, readies: Sequence[DueCall], flights: Sequence[Flight], *, slots: bool = True) -> None:
        """Finish a batch: forget its timers, send its flights, and free the slots of calls without a flight."""
        flying = {id(flight.ready) for flight in flights}
        for ready in readies:
            self.agenda.forget(ready.timer)
            if slots and id(ready) not in flying:
                self.admission.withdraw(ready)
        self.done += len(flights) + sum(ready.timer.fired is not None for ready in readies if id(ready) not in flying)
        for flight in flights:
            self.flights.send(flight)
        self.turn()

    def _postpone(self, readies: Sequence[DueCall]) -> None:
        """Let the next scan read the due times of these calls again, even while many other calls wait."""
        times = [ready.timer.at for ready in readies]
        self.parts.feeder.read_between(min(times), max(times))


def _tenant_of(ready: DueCall) -> UUID:
    return ready.timer.tenant_id


def _tenant_of_fire(fire: tuple[DueCall, bool]) -> UUID:
    return _tenant_of(fire[0])
