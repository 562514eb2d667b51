"""What happens to admitted calls on a simulated node: fired or claimed, sent, answered, and their results written."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol, cast

from benchmarks.simulation.cells import SimulatedCell
from benchmarks.simulation.event_loop import NodeLoop
from benchmarks.simulation.targets import SimulatedTargets
from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import TargetHealth
from horae.domain.schedules.timers import Timer
from horae.engine.admission.admission import Admission
from horae.engine.admission.target import DueCall
from horae.engine.completer import Completer
from horae.engine.fire import FiredBatch
from horae.engine.fire_parts import Flight
from horae.runtime import randomness


class Witness(Protocol):
    """Writes down what a run did."""

    def note_arrival(self, timer: Timer, at: float) -> None:
        """A call has arrived at its target."""

    def note_end(self, *, success: bool) -> None:
        """An instance has ended: with success, or as a dead letter."""


class ResultRow(NamedTuple):
    """The result of a call, as the completer passes it on. `ran` is itself: the product asks it for a deadline."""

    ready: DueCall
    health: TargetHealth
    deadline: None = None

    @property
    def ran(self) -> "ResultRow":
        """The attempt of this result."""
        return self


class SimulatedFirer:
    """Fires and claims batches: processor time of the node, then one statement."""

    def __init__(self, cell: SimulatedCell, loop: NodeLoop, announce: Callable[[Sequence[Timer]], None]) -> None:
        self.cell = cell
        self.loop = loop
        self.announce = announce
        self.unread = 0

    async def fire(self, readies: Sequence[DueCall], *, slots: bool) -> FiredBatch:
        """Fire a batch. Without slots its instances wait in their rows."""
        fired = await self._write(readies)
        if slots:
            return FiredBatch([Flight(one, cast("Any", None), 0.0) for one in fired], [], [], [])
        waiting = [one.timer._replace(fired=None) for one in fired]
        for timer in waiting:
            self.cell.write(timer)
        self.loop.call_soon(self.announce, waiting)  # after the dispatcher has forgotten the cursors
        return FiredBatch([], [], [], [])

    async def claim(self, readies: Sequence[DueCall]) -> list[Flight]:
        """Claim a batch of instances."""
        return [Flight(one, cast("Any", None), 0.0) for one in await self._write(readies)]

    async def _write(self, readies: Sequence[DueCall]) -> list[DueCall]:
        """One statement for all; returns the calls whose rows were still there."""
        times = self.cell.times
        self.loop.use(times.node_statement_s + len(readies) * times.fire_s)
        await self.cell.statement(self.loop, len(readies) / 2)
        found = self.cell.remove(one.timer for one in readies)
        return [one for one, was_there in zip(readies, found, strict=True) if was_there]


class SimulatedSettler:
    """Writes results. A failure is due again by the job's own retry policy, or is a dead letter."""

    def __init__(
        self, cell: SimulatedCell, loop: NodeLoop, announce: Callable[[Sequence[Timer]], None], witness: Witness
    ) -> None:
        self.cell = cell
        self.loop = loop
        self.announce = announce
        self.witness = witness

    async def settle(self, results: Sequence[ResultRow]) -> None:
        """Write a batch of results in one statement."""
        times = self.cell.times
        self.loop.use(times.node_statement_s + len(results) * times.result_s)
        await self.cell.statement(self.loop, len(results) / 2)
        again: list[Timer] = []
        for one in results:
            if one.health is TargetHealth.OK:
                self.witness.note_end(success=True)
            elif (timer := self._next_attempt(one.ready)) is None:
                self.witness.note_end(success=False)
            else:
                again.append(timer)
        if again:
            self.announce(again)

    def _next_attempt(self, ready: DueCall) -> Timer | None:
        policy, timer = ready.job.definition.retry, ready.timer
        failures = self.cell.failures[timer.id] = self.cell.failures.get(timer.id, 0) + 1
        if policy.is_exhausted(failures):
            return None
        at = self.cell.clock.now() + policy.delay(failures, randomness.fraction())
        again = timer._replace(at=at, lane=Lane.RETRY, fired=None)
        self.cell.write(again)
        return again


class FlightParts(NamedTuple):
    """The parts that the dispatcher asks flights for."""

    completer: Completer
    opener: "NoPayloads"


class NoPayloads:
    """Calls of the simulation have no payload."""

    async def learn(self, _claimed: Sequence[Flight]) -> None:
        """Nothing to decrypt."""


class SimulatedFlights:
    """Sends calls at their due time and lands their answers. Calls of one batch leave one after the other."""

    def __init__(
        self,
        cell: SimulatedCell,
        loop: NodeLoop,
        admission: Admission,
        completer: Completer,
        targets: SimulatedTargets,
        witness: Witness,
        turn: Callable[[], None],
    ) -> None:
        self.cell, self.loop = cell, loop
        self.admission = admission
        self.parts = FlightParts(completer, NoPayloads())
        self.targets, self.witness, self.turn = targets, witness, turn
        self.in_flight: dict[DueCall, None] = {}
        self._leaving: list[DueCall] = []

    def send(self, flight: Flight) -> None:
        """Send a call now, or when it is due."""
        ready = flight.ready
        self.in_flight[ready] = None
        early_s = ready.timer.at.timestamp() - self.loop.kernel.now
        if early_s > 0:
            self.loop.call_later(early_s, self._add, ready)
        else:
            self._add(ready)

    def _add(self, ready: DueCall) -> None:
        if not self._leaving:
            self.loop.call_soon(self._send_all)
        self._leaving.append(ready)

    def _send_all(self) -> None:
        sent, self._leaving = self._leaving, []
        self.loop.use(len(sent) * self.cell.times.send_s)
        self.loop.call_soon(self._note_sent, sent, self.loop.kernel.now)

    def _note_sent(self, sent: list[DueCall], began: float) -> None:
        """The calls have left: the first at the beginning, the last now."""
        self.targets.receive(len(sent), lambda: self._arrive(sent, began))

    def _arrive(self, sent: list[DueCall], began: float) -> None:
        now, many, wake_up_s = self.loop.kernel.now, len(sent), self.cell.times.wake_up_s
        groups: dict[tuple[float, TargetHealth], list[DueCall]] = {}
        for place, ready in enumerate(sent, 1):
            at = began + (now - began) * place / many + wake_up_s
            self.witness.note_arrival(ready.timer, at)
            url = ready.job.definition.target.url  # type: ignore[union-attr]
            groups.setdefault(self.targets.answer(url, at), []).append(ready)
        for (answer_s, health), calls in groups.items():
            self.loop.call_later(answer_s, self._land, calls, health)

    def _land(self, calls: Sequence[DueCall], health: TargetHealth) -> None:
        self.loop.use(len(calls) * self.cell.times.land_s)
        for ready in calls:
            del self.in_flight[ready]
            self.admission.record_answer(ready, ready.timer.id, health)
            self.parts.completer.add(cast("Any", ResultRow(ready, health)))
        self.turn()


def retried_at_once(readies: Sequence[DueCall], now: datetime) -> list[Timer]:
    """The timers of calls whose node is gone: a rescue makes them due again, uncounted."""
    return [one.timer._replace(at=now - timedelta(milliseconds=1), fired=None) for one in readies]
