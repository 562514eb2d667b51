"""What was admitted is carried out here: fired or claimed in batches, sent, and handed to the completer.

A flight always lands, once: with its answer, with why there is none, or, where nobody tells any more, by the watchdog
after the deadline of its row. Landing gives back its slot, its permits and its place at the target, and settles the
row, whatever raises in between.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from horae.delivery.push import Delivered, Sender
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.outcomes import Accepted, ErrorCode, Lost, Outcome, Probed, Retryable, Said, said_by
from horae.domain.sealed import Sealed
from horae.domain.targets import HttpTarget
from horae.engine.accepted import AcceptedWork
from horae.engine.admission.gatekeeper import Gatekeeper
from horae.engine.admission.ready import Ready
from horae.engine.agenda import AHEAD_MS, Agenda
from horae.engine.births import Flight
from horae.engine.claim import Claimer
from horae.engine.completer import Completer
from horae.engine.feeder import Feeder
from horae.engine.fire import FiredBatch, Firer
from horae.engine.opening import Opener
from horae.engine.quotas.pacing import Pacer
from horae.runtime.batch_queues import RoundRobinQueue
from horae.runtime.batcher import Batcher
from horae.runtime.pace import Pace
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.instances import Attempt
from horae.store.settle import Result
from horae.store.tx import CUT, GONE

Value = TypeVar("Value")
BATCH: Final = 200
WALKS_AT_ONCE: Final = 20
"""Cursors in one piece of work that is not a single statement."""
BATCHES_OF_TENANT: Final = 2
"""Of three that are under way at once: what one tenant is behind with leaves the others a place."""
LONGEST_MS: Final = 2**31 - 1
ROUNDING: Final = 0.0006  # the loop counts whole milliseconds
SWEEP_INTERVAL_S: Final = 5.0
"""Seconds between two looks of the watchdog: one look at all flights costs less than a timer for each."""
OVERDUE_S: Final = 5.0
"""Seconds after its deadline from which on a flight is landed by the watchdog."""


class Hands(NamedTuple):
    """Who does what at a desk."""

    firer: Firer
    claimer: Claimer
    sender: Sender
    completer: Completer
    feeder: Feeder
    opener: Opener
    pacer: Pacer
    accepted: AcceptedWork


class Desk:
    """One cell's. `alive` says whether the shards are still ours; without them nothing is fired and nothing sent."""

    def __init__(
        self,
        cell: Cell,
        agenda: Agenda,
        gatekeeper: Gatekeeper,
        hands: Hands,
        alive: Callable[[], bool],
        turn: Callable[[], None],
    ) -> None:
        self.cell = cell
        self.agenda = agenda
        self.gatekeeper = gatekeeper
        self.hands = hands
        self.alive = alive
        self.turn = turn
        self.done = 0
        self._in_flight: dict[Ready, Flight] = {}
        self._swept_at = float("-inf")
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._together: dict[tuple[UUID, int], list[tuple[Instance, Flight, int | None]]] = {}
        self._landed = asyncio.Event()
        self._admitted = Batcher("fire", self._carry, Pace(0.0055, 0.035, 0.01), most=BATCH)
        self._unslotted = Batcher("record", self._record, Pace(0.05, 0.01, 0.05), most=BATCH)
        alone = RoundRobinQueue[tuple[Ready, bool]](_tenant_of_fire, BATCHES_OF_TENANT)
        behind = RoundRobinQueue[Ready](_tenant_of, BATCHES_OF_TENANT)
        self._alone = Batcher("fire alone", self._fire_alone, Pace(0, 0.5, 0), most=WALKS_AT_ONCE, queue=alone)
        self._behind = Batcher("catch up", self._catch_up, Pace(0, 0.5, 0.01), most=WALKS_AT_ONCE, queue=behind)
        self.accept = self._admitted.add
        self.record = self._unslotted.add

    @property
    def open(self) -> bool:
        """Whether more may be admitted now. What is fired alone holds slots, and they are bounded by tenant."""
        return len(self._admitted) < 2 * BATCH and not self.hands.completer.crowded

    async def idle(self) -> None:
        """Until nothing is on its way any more."""
        batchers = (self._admitted, self._unslotted, self._alone, self._behind)
        while any(batcher.busy for batcher in batchers) or self._in_flight:
            for batcher in batchers:
                await batcher.drained()
            while self._in_flight:
                self._landed.clear()
                await self._landed.wait()
        await self.hands.completer.drained()

    def close(self) -> None:
        """Nobody waits any more: what comes back from now on was cut off by us, and says nothing about its call."""
        self._closed = True

    async def _carry(self, readies: Sequence[Ready]) -> None:
        """Fire or claim a batch and send what is RUNNING now. All others give their slot back."""
        held = self.agenda.held
        ours = [ready for ready in readies if ready.timer.tenant_id not in held] if held else readies
        cursors = [ready for ready in ours if ready.timer.fired is not None]
        waiting = [ready for ready in ours if ready.timer.fired is None]
        if cursors:
            await self._fire(cursors, slots=True)
        if waiting:
            self._depart(waiting, await self._attempt(partial(self._claim, waiting), waiting) or ())
        if len(ours) < len(readies):
            self._depart([ready for ready in readies if ready.timer.tenant_id in held], ())

    async def _record(self, readies: Sequence[Ready]) -> None:
        """Fires that no slot is needed for: of a queue, or held back at a gate; their schedules go on."""
        await self._fire(readies, slots=False)

    async def _fire(self, readies: Sequence[Ready], *, slots: bool) -> None:
        """Fire a batch and send it. What takes longer follows as work of its own, and can neither delay nor lose it."""
        work = partial(self.hands.firer.fire, readies, slots=slots)
        fired = await self._attempt(work, readies) or FiredBatch([], [], [], [])
        if fired.unanswered:
            self._postpone(fired.unanswered)
        others = {id(ready) for ready in (*fired.alone, *fired.behind)}
        done = [ready for ready in readies if id(ready) not in others] if others else readies
        self._depart(done, fired.flights, slots=slots)
        for ready in fired.alone:
            self._alone.add((ready, slots))
        for ready in fired.behind:
            if slots:
                self.gatekeeper.withdraw(ready)  # what it is behind with is claimed fire by fire
            self._behind.add(ready)

    async def _fire_alone(self, readies: Sequence[tuple[Ready, bool]]) -> None:
        """Fires that are decided one by one: each is sent before the next is decided."""
        for ready, slot in readies:
            flights = await self._attempt(partial(self.hands.firer.fire_alone, ready, slot=slot), [ready])
            self._depart([ready], flights or (), slots=slot)

    async def _catch_up(self, readies: Sequence[Ready]) -> None:
        """Cursors that are behind. They may have waited here for a while: some may be of a tenant that is held now."""
        ours = [ready for ready in readies if ready.timer.tenant_id not in self.agenda.held]
        if ours:
            await self._attempt(partial(self.hands.firer.catch_up, ours), ours)
        self._depart(readies, (), slots=False)

    async def _claim(self, waiting: Sequence[Ready]) -> list[Flight]:
        claimed = await self.hands.claimer.claim(waiting)
        await self.hands.opener.learn(claimed)
        return claimed

    async def _attempt(self, work: Callable[[], Awaitable[Value]], readies: Sequence[Ready]) -> Value | None:
        """What came of a piece of work; None: nothing is known of it, and a later look finds what is left."""
        try:
            if self.alive():
                return await work()
        except (*GONE, *CUT) as error:
            log.warning("fire.postponed", count=len(readies), reason=str(error) or type(error).__name__)
        except Exception:
            log.exception("fire.failed", count=len(readies))
        self._postpone(readies)
        return None

    def _depart(self, readies: Sequence[Ready], flights: Sequence[Flight], *, slots: bool = True) -> None:
        """They are done. Calls are sent; a slot that is held for another one is free again."""
        flying = {id(flight.ready) for flight in flights}
        for ready in readies:
            self.agenda.forget(ready.timer)
            if slots and id(ready) not in flying:
                self.gatekeeper.withdraw(ready)
        self.done += len(flights) + sum(ready.timer.fired is not None for ready in readies if id(ready) not in flying)
        for flight in flights:
            self._send(flight)
        self.turn()

    def _postpone(self, readies: Sequence[Ready]) -> None:
        """They are where they were: the next look finds them, however much else is waiting."""
        times = [ready.timer.at for ready in readies]
        self.hands.feeder.name(min(times), max(times))

    def _send(self, flight: Flight) -> None:
        """Call at its time, not before it, and not before its rates let it."""
        self._in_flight[flight.ready] = flight
        call = self._pace if flight.ready.paces else self._call
        early = flight.ran.due_at.timestamp() - self.cell.clock.seconds()
        if early > 0:
            self._loop.call_later(early + ROUNDING, call, flight)
        else:
            call(flight)

    def _pace(self, flight: Flight) -> None:
        """Call when there is a place for it in its rates; it is handed back where its deadline comes first."""
        ready, reached_at = flight.ready, self.gatekeeper.now()
        if self.hands.pacer.may_leave(ready, reached_at - ready.admitted_at):
            self._call(flight)
            return

        def left_s() -> float:
            return flight.until - self.cell.clock.seconds() if self.alive() else 0.0

        def go() -> None:
            ready.paced_s = self.gatekeeper.now() - reached_at
            self._call(flight)

        self.hands.pacer.leave(ready, left_s, go)

    def _call(self, flight: Flight) -> None:
        """The call itself. One that cannot even be begun fails by itself: those behind it are sent all the same."""
        try:
            self._begin(flight)
        except Exception as error:
            self._fail(flight, error)

    def _begin(self, flight: Flight) -> None:
        """Send; handed back uncounted where its deadline has no room for it any more."""
        ready, ran, until = flight
        now = self.cell.clock.seconds()
        delay_ms = None
        if ran.attempt == 1:
            late = int((now - ran.due_at.timestamp() - ready.paced_s) * 1000) - ran.held_ms
            delay_ms = min(max(0, late), LONGEST_MS)
        if now > until or not self.alive():
            self._give_up(flight, Lost())
            return
        opened = self.hands.opener.open(ran, ready.job)
        if not isinstance(opened, Instance):
            self._loop.call_soon(self._land, flight, delay_ms, Delivered(opened, None, 0, None))
            return
        if ran.payload is not None:
            flight = self._in_flight[ready] = flight.without_payload()
        if batch_of(ready.job) > 1:
            if not self._together:
                self._loop.call_later(AHEAD_MS / 1000, self._send_together)
            self._together.setdefault((ready.job.id, ready.job.version), []).append((opened, flight, delay_ms))
        else:
            self.hands.sender.push(opened, ready.job, partial(self._land, flight, delay_ms))

    def _send_together(self) -> None:
        """Calls of one job version whose target takes several in a request."""
        together, self._together = self._together, {}
        for sent in together.values():
            job = sent[0][1].ready.job
            most = batch_of(job)
            for first in range(0, len(sent), most):
                runs = [opened for opened, _, _ in sent[first : first + most]]
                part = [(flight, delay_ms) for _, flight, delay_ms in sent[first : first + most]]
                try:
                    self.hands.sender.push_batch(runs, job, partial(self._land_together, part))
                except Exception as error:
                    for flight, _ in part:
                        self._fail(flight, error)

    def _fail(self, flight: Flight, error: Exception) -> None:
        """A mistake of ours, not the target's: it says nothing about that one, and its slot is free again."""
        log.error("call.failed", instance=str(flight.ran.id), exc_info=error)
        self._give_up(flight, Retryable(ErrorCode.UNSENDABLE, f"it could not be sent: {type(error).__name__}"))

    def _land_together(self, sent: Sequence[tuple[Flight, int | None]], delivered: Sequence[Delivered]) -> None:
        for (flight, delay_ms), one in zip(sent, delivered, strict=True):
            self._land(flight, delay_ms, one)

    def _land(self, flight: Flight, delay_ms: int | None, delivered: Delivered) -> None:
        if self._closed or not self._leave(flight):
            return
        try:
            result = self._judge(flight, delay_ms, delivered)
        except Exception as error:
            log.error("landing.failed", instance=str(flight.ran.id), exc_info=error)
            self.gatekeeper.withdraw(flight.ready)  # what it has not given back yet
            lost = Retryable(ErrorCode.PROTOCOL, f"its answer could not be judged: {type(error).__name__}")
            result = Result(flight.ran, flight.ready.job, lost)
        self.hands.completer.add(result)
        self.turn()

    def _judge(self, flight: Flight, delay_ms: int | None, delivered: Delivered) -> Result:
        """Tell the gatekeeper what came of a call; returns what is to be written."""
        ready, ran, _ = flight
        outcome = delivered.outcome
        said = said_by(outcome)
        if ready.probe and said is Said.BADLY:
            assert isinstance(outcome, Retryable)
            outcome = Probed(outcome.code, outcome.message)
        if said is Said.NOTHING:
            self.gatekeeper.withdraw(ready)
        elif ready.quotas and isinstance(outcome, Accepted):
            self.gatekeeper.answered(ready, ran.id, said, goes_on=True)
            if ready.quotas:
                self.hands.accepted.keep(ran, ready.quotas)
        else:
            self.gatekeeper.answered(ready, ran.id, said)
        code = getattr(outcome, "code", None)
        kept = Attempt(ran.attempt, delivered.status, code, delivered.duration_ms, self._kept(flight, delivered))
        return Result(ran, ready.job, outcome, kept, delay_ms)

    def _kept(self, flight: Flight, delivered: Delivered) -> str | Sealed | None:
        """Its answer as it is kept; that it cannot be sealed keeps no call from ending."""
        try:
            return self.hands.opener.answer(flight.ran, flight.ready.job, delivered.answer)
        except Exception:
            log.exception("answer.not_kept", instance=str(flight.ran.id))
            return None

    def land_overdue(self) -> int:
        """The watchdog: land what nobody told the end of until its deadline; returns how many. Cheap to ask often."""
        now = self.gatekeeper.now()
        if now - self._swept_at < SWEEP_INTERVAL_S or self._closed or not self._in_flight:
            return 0
        self._swept_at, late = now, self.cell.clock.seconds() - OVERDUE_S
        overdue = [flight for flight in self._in_flight.values() if deadline_of(flight) < late]
        for flight in overdue:
            log.error("call.overdue", instance=str(flight.ran.id), job=flight.ready.job.name)
            self._give_up(flight, Lost())
        if overdue:
            self.turn()
        return len(overdue)

    def _give_up(self, flight: Flight, outcome: Outcome) -> None:
        """Land a flight whose call says nothing about its target."""
        if self._leave(flight):
            self.gatekeeper.withdraw(flight.ready)
            self.hands.completer.add(Result(flight.ran, flight.ready.job, outcome))

    def _leave(self, flight: Flight) -> bool:
        """It is no longer in the air; whether it was: one who comes second has nothing to land."""
        self._landed.set()
        return self._in_flight.pop(flight.ready, None) is not None


def deadline_of(flight: Flight) -> float:
    """When the row of a flight is to be rescued."""
    deadline = flight.ran.deadline
    return flight.until if deadline is None else deadline.timestamp()


def batch_of(job: Job) -> int:
    """How many calls its target takes in one request."""
    target = job.definition.target
    return target.batch if isinstance(target, HttpTarget) else 1


def _tenant_of(ready: Ready) -> UUID:
    return ready.timer.tenant_id


def _tenant_of_fire(fire: tuple[Ready, bool]) -> UUID:
    return _tenant_of(fire[0])
