"""Calls in flight of one cell: sends each when its time and its rates allow, and lands it.

A *flight* is a call whose row is RUNNING. Each flight *lands* exactly once: with its answer, with the reason why there
is none, or, if no report ever comes, by the watchdog after the deadline of its row. Landing frees the slot, the permits
and the place at the target, and passes the result to the completer, even if an error is raised in between.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.delivery.push import Delivery, Sender
from horae.domain.encryption.encrypted_values import EncryptedValue
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import (
    AcceptedCall,
    ErrorCode,
    FailedProbe,
    LostAttempt,
    Outcome,
    Retryable,
    Success,
    TargetHealth,
    health_by,
)
from horae.domain.jobs.jobs import Job
from horae.domain.targets.reports import TargetReport
from horae.domain.targets.targets import HttpTarget, request_line
from horae.domain.traces.spans import SpanKind, attempt_span, fire_span
from horae.engine.accepted import AcceptedWork
from horae.engine.admission.admission import Admission
from horae.engine.admission.target import DueCall
from horae.engine.agenda import WRITE_AHEAD_MS
from horae.engine.completer import Completer
from horae.engine.fire_parts import Flight
from horae.engine.outages import LATE_MS, OutageWatch
from horae.engine.payloads import Opener
from horae.engine.quotas.pacing import Pacer
from horae.repositories.reports import ClearResult
from horae.repositories.settle import AttemptOutcome
from horae.runtime.telemetry import log
from horae.runtime.tracing import Tracer
from horae.store.cells import Cell
from horae.store.instances.instances import Attempt

MAX_DELAY_MS: Final = 2**31 - 1
TIMER_ROUNDING_S: Final = 0.0006
"""Added to a delay, because the event loop rounds to whole milliseconds."""
SWEEP_INTERVAL_S: Final = 5.0
"""Seconds between two rounds of the watchdog: one look at all flights costs less than a timer for each."""
FLIGHT_OVERDUE_S: Final = 5.0
"""Seconds after its deadline at which the watchdog lands a flight."""


class FlightParts(NamedTuple):
    """The parts that flights pass through."""

    sender: Sender
    completer: Completer
    opener: Opener
    pacer: Pacer
    accepted: AcceptedWork


class Flights:
    """One per cell. `alive` says whether the lease is valid; without it nothing is sent.

    `turn` is called when a place may have become free. `node` is the name of the node, for the records of attempts.
    """

    def __init__(
        self,
        cell: Cell,
        admission: Admission,
        parts: FlightParts,
        alive: Callable[[], bool],
        turn: Callable[[], None],
        node: str,
    ) -> None:
        self.cell, self.node = cell, node
        self.admission, self.parts = admission, parts
        self.alive, self.turn = alive, turn
        self._in_flight: dict[DueCall, Flight] = {}
        self._swept_at = float("-inf")
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._tracer = parts.sender.tracer
        self.outages = OutageWatch(cell.name, cell.reach)
        self._together: dict[tuple[UUID, int], list[tuple[Instance, Flight, int | None]]] = {}
        self._landed = asyncio.Event()

    def __len__(self) -> int:
        """How many calls were sent and have not landed."""
        return len(self._in_flight)

    @property
    def in_flight(self) -> Iterable[DueCall]:
        """The calls that were sent and have not landed."""
        return self._in_flight.keys()

    async def wait_until_landed(self) -> None:
        """Wait until no call is in flight."""
        while self._in_flight:
            self._landed.clear()
            await self._landed.wait()

    def long_deadlines(self) -> list[float]:
        """The deadlines of long calls in flight, by the clock of the cell."""
        return [flight.deadline for flight in self._in_flight.values() if flight.ready.target.long is not None]

    def close(self) -> None:
        """Ignore answers from now on: the client closes the connections, so they say nothing about their calls."""
        self._closed = True

    def send(self, flight: Flight) -> None:
        """Send a call at its due time, and not before its rates have a place for it."""
        self._in_flight[flight.ready] = flight
        call = self._pace if flight.ready.paces else self._call
        early = flight.ran.due_at.timestamp() - self.cell.clock.seconds()
        if early > 0:
            self._loop.call_later(early + TIMER_ROUNDING_S, call, flight)
        else:
            call(flight)

    def _pace(self, flight: Flight) -> None:
        """Send a call when its rates have a place. If its time to be sent runs out first, it is given back."""
        ready, reached_at = flight.ready, self.admission.now()
        if self.parts.pacer.may_leave(ready, reached_at - ready.admitted_at):
            self._call(flight)
            return

        def left_s() -> float:
            return flight.until - self.cell.clock.seconds() if self.alive() else 0.0

        def go() -> None:
            ready.paced_s = self.admission.now() - reached_at
            self._call(flight)

        self.parts.pacer.leave(ready, left_s, go)

    def _call(self, flight: Flight) -> None:
        """Start the call. An error in it fails this call alone, and the calls behind it are sent."""
        try:
            self._begin(flight)
        except Exception as error:
            self._fail(flight, error)

    def _begin(self, flight: Flight) -> None:
        """Send a call.

        1. Compute the trigger delay of a first attempt: late by the clock, less the time at gates and rates.
        2. If its time to be sent is over or the lease is lost, give it back; the attempt is not counted.
        3. Decrypt its payload. If that fails, it lands with that outcome.
        4. Drop the payload from memory here; the request keeps it.
        5. Send it alone, or collect it with other calls of its job version if the target takes batches.
        """
        ready, ran, until = flight
        now = self.cell.clock.seconds()
        delay_ms = None
        if ran.attempt == 1:
            late = int((now - ran.due_at.timestamp() - ready.paced_s) * 1000) - ran.held_ms
            delay_ms = min(max(0, late), MAX_DELAY_MS)
            if delay_ms > LATE_MS:
                self.outages.count_late(delay_ms)
        if now > until or not self.alive():
            self._give_up(flight, LostAttempt())
            return
        if self._tracer is not None and ran.attempt == 1 and self._tracer.samples(ran.id.int, ran.caller_trace):
            self._tracer.record(fire_span(ran, ready.job.name, now))
        opened = self.parts.opener.decrypt(ran, ready.job)
        if not isinstance(opened, Instance):
            self._loop.call_soon(self._land, flight, delay_ms, Delivery(opened, None, 0, None))
            return
        if ran.payload is not None:
            flight = self._in_flight[ready] = flight.without_payload()
        if batch_of(ready.job) > 1:
            if not self._together:
                self._loop.call_later(WRITE_AHEAD_MS / 1000, self._send_together)
            self._together.setdefault((ready.job.id, ready.job.version), []).append((opened, flight, delay_ms))
        else:
            self.parts.sender.push(opened, ready.job, partial(self._land, flight, delay_ms))

    def _send_together(self) -> None:
        """Send collected calls in batches: several calls of one job version in one request."""
        together, self._together = self._together, {}
        for sent in together.values():
            job = sent[0][1].ready.job
            most = batch_of(job)
            for first in range(0, len(sent), most):
                runs = [opened for opened, _, _ in sent[first : first + most]]
                part = [(flight, delay_ms) for _, flight, delay_ms in sent[first : first + most]]
                try:
                    self.parts.sender.push_batch(runs, job, partial(self._land_together, part))
                except Exception as error:
                    for flight, _ in part:
                        self._fail(flight, error)

    def _fail(self, flight: Flight, error: Exception) -> None:
        """Land a call that could not be sent because of an error of ours: it says nothing about the target."""
        log.error("call.failed", **flight.ran.ids(), exc_info=error)
        self._give_up(flight, Retryable(ErrorCode.UNSENDABLE, f"it could not be sent: {type(error).__name__}"))

    def _land_together(self, sent: Sequence[tuple[Flight, int | None]], delivered: Sequence[Delivery]) -> None:
        for (flight, delay_ms), one in zip(sent, delivered, strict=True):
            self._land(flight, delay_ms, one)

    def _land(self, flight: Flight, delay_ms: int | None, delivered: Delivery) -> None:
        if self._closed or not self._remove_flight(flight):
            return
        try:
            result = self._report_answer(flight, delay_ms, delivered)
        except Exception as error:
            log.error("response.not_processed", **flight.ran.ids(), exc_info=error)
            self.admission.withdraw(flight.ready)  # frees what was not freed yet
            lost = Retryable(ErrorCode.PROTOCOL, f"its answer could not be judged: {type(error).__name__}")
            result = AttemptOutcome(flight.ran, flight.ready.job, lost)
        if self._tracer is not None and self._tracer.samples(flight.ran.id.int, flight.ran.caller_trace):
            self._trace_attempt(self._tracer, flight, result.outcome, delivered)
        self.parts.completer.add(result)
        self.turn()

    def _trace_attempt(self, tracer: Tracer, flight: Flight, outcome: Outcome, delivered: Delivery) -> None:
        ended, job = self.cell.clock.seconds(), flight.ready.job
        kind = SpanKind.CLIENT if isinstance(job.definition.target, HttpTarget) else SpanKind.PRODUCER
        began = ended - delivered.duration_ms / 1000
        tracer.record(attempt_span(flight.ran, job.name, kind, began, ended, outcome, delivered.status))

    def _report_answer(self, flight: Flight, delay_ms: int | None, delivered: Delivery) -> AttemptOutcome:
        """Report the answer of a call to admission; returns the outcome to write.

        A failed probe does not count as a failure of its instance. Accepted work (202) keeps its permits until it ends.
        """
        ready, ran, _ = flight
        outcome = delivered.outcome
        health = health_by(outcome)
        if ready.probe and health is TargetHealth.FAILED:
            assert isinstance(outcome, Retryable)
            outcome = FailedProbe(outcome.code, outcome.message)
        if health is TargetHealth.UNKNOWN:
            self.admission.withdraw(ready)
        elif ready.quotas and isinstance(outcome, AcceptedCall):
            self.admission.record_answer(ready, ran.id, health, keeps_running=True)
            if ready.quotas:
                self.parts.accepted.keep(ran, ready.quotas)
        else:
            self.admission.record_answer(ready, ran.id, health)
        kept = Attempt(
            ran.attempt,
            delivered.status,
            getattr(outcome, "code", None),
            delivered.duration_ms,
            self._stored_answer(flight, delivered),
            node=self.node,
        )
        if not (isinstance(outcome, Success) and kept.plain_success_of(ran)):  # the row of a plain one says the rest
            kept = replace(
                kept,
                started_at=self.cell.clock.now() - timedelta(milliseconds=delivered.duration_ms),
                request=None if health is TargetHealth.UNKNOWN else request_line(ready.job.definition.target),
            )
        held_ms = ran.held_ms + int(ready.paced_s * 1000)
        withheld_ms, withheld = 0, self.cell.measures.withheld
        if delay_ms and withheld.known:
            due_at = ran.due_at.timestamp()
            withheld_ms = withheld.overlap_ms(ran.tenant_id, ran.priority, due_at, due_at + delay_ms / 1000)
        written = AttemptOutcome(ran, ready.job, outcome, kept, delay_ms, held_ms=held_ms, withheld_ms=withheld_ms)
        return written if delivered.report is None else self._with_report(written, delivered.report)

    def _with_report(self, written: AttemptOutcome, report: TargetReport) -> AttemptOutcome:
        """Add what the target answered besides its status: the settler encrypts it."""
        lines = report.lines_at(self.cell.clock.now())
        return written._replace(result=None if report.result is None else ClearResult(report.result), lines=lines)

    def _stored_answer(self, flight: Flight, delivered: Delivery) -> str | EncryptedValue | None:
        """The answer as it is stored. If it cannot be encrypted, the call ends without a stored answer."""
        try:
            return self.parts.opener.encrypt_answer(flight.ran, flight.ready.job, delivered.answer)
        except Exception:
            log.exception("response.not_stored", **flight.ran.ids())
            return None

    def land_overdue(self) -> int:
        """The watchdog: land flights that are past their deadline without a report; returns how many. Cheap to call."""
        now = self.admission.now()
        if now - self._swept_at < SWEEP_INTERVAL_S or self._closed or not self._in_flight:
            return 0
        self._swept_at, late = now, self.cell.clock.seconds() - FLIGHT_OVERDUE_S
        overdue = [flight for flight in self._in_flight.values() if flight.deadline < late]
        for flight in overdue:
            log.error("call.overdue", **flight.ran.ids(), name=flight.ready.job.name)
            self._give_up(flight, LostAttempt())
        if overdue:
            self.turn()
        return len(overdue)

    def _give_up(self, flight: Flight, outcome: Outcome) -> None:
        """Land a flight whose result says nothing about its target."""
        if self._remove_flight(flight):
            self.admission.withdraw(flight.ready)
            self.parts.completer.add(AttemptOutcome(flight.ran, flight.ready.job, outcome))

    def _remove_flight(self, flight: Flight) -> bool:
        """Remove a flight; returns whether it was still in flight. A second report has nothing to land."""
        self._landed.set()
        return self._in_flight.pop(flight.ready, None) is not None


def batch_of(job: Job) -> int:
    """How many calls the target of a job takes in one request."""
    target = job.definition.target
    return target.batch if isinstance(target, HttpTarget) else 1
