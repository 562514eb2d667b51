"""Settles the results of attempts: rules decide, one transaction writes, and late results are refused and counted."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.events.events import Event
from horae.domain.health.signals import AttemptResult as Counts
from horae.domain.instances.instances import Instance, Lane
from horae.domain.instances.lifecycle import State
from horae.domain.instances.logs import LogLine
from horae.domain.instances.outcomes import (
    DeadlineExtension,
    ErrorCode,
    InstanceEnd,
    NextAttempt,
    Outcome,
    Success,
    settle,
)
from horae.domain.instances.retries import RetryPolicy
from horae.domain.jobs.jobs import Job
from horae.domain.measures.in_force import NO_MEASURES
from horae.domain.measures.retries import postponed_retry
from horae.domain.schedules.timers import Timer
from horae.domain.tasks.compensations import Compensation
from horae.domain.traces.spans import settle_span
from horae.repositories.job_durations import JobDurations
from horae.repositories.reports import encrypt_reports
from horae.repositories.step_ends import PlainRecorder, RecordedEnds, StepRecorder, record_steps
from horae.runtime import randomness
from horae.runtime.batch import RefusedRow, halve
from horae.runtime.telemetry import log
from horae.runtime.tracing import Tracer
from horae.security.payload_cipher import PayloadCipher
from horae.store.events import outbox
from horae.store.events.outbox import OutboxRow
from horae.store.health.job_counts import wants_metrics
from horae.store.instances import instances, logs, results
from horae.store.instances.instances import Attempt, EndRow, Extension, RetryRow
from horae.store.jobs import jobs
from horae.store.protocol import CellProtocol
from horae.store.tx import BAD_ROW, Tx

ENDINGS: Final = {State.SUCCESS: Counts.SUCCESS, State.DEAD: Counts.DEAD, State.SKIPPED: Counts.SKIPPED}


class AttemptOutcome(NamedTuple):
    """The result of one attempt. `held_ms`: how long gates and rates held it back, which `delay_ms` leaves out.

    `withheld_ms`: how long a measure withheld it, which is a part of `delay_ms`. `result`: what it returned.
    `lines`: what a target logged in its answer.
    """

    ran: Instance
    job: Job | None
    outcome: Outcome
    attempt: Attempt | None = None
    delay_ms: int | None = None
    rescued: bool = False
    compensations: Sequence[Compensation] = ()
    held_ms: int = 0
    withheld_ms: int = 0
    result: Any = None
    lines: Sequence[LogLine] = ()


class SettleCount(NamedTuple):
    """How many results were written, and how many were refused because the attempt had another owner."""

    written: int
    refused: int


class Settler:
    """Writes results in batches. `follow` receives the timers of instances that are due again.

    `late` counts results of attempts that this process no longer owned.
    """

    def __init__(
        self,
        cell: CellProtocol,
        follow: Callable[[Timer], None] = lambda _timer: None,
        tracer: Tracer | None = None,
        durations: JobDurations | None = None,
        cipher: PayloadCipher | None = None,
        step_ended: Callable[[int], None] = lambda _shard: None,
        recorder: StepRecorder | None = None,
    ) -> None:
        """`durations`: how long runs take, as all cells of this process have seen it. `cipher` encrypts reports.

        `recorder` records ends of steps of graphs. `step_ended` receives the shards of those that leave something to be
        decided by nodes.
        """
        self.cell = cell
        self.tracer = tracer
        self.announce = follow
        self.step_ended = step_ended
        self.recorder = PlainRecorder() if recorder is None else recorder
        self.late = 0
        self.durations = JobDurations() if durations is None else durations
        self._cipher = PayloadCipher() if cipher is None else cipher

    async def settle(self, results: Sequence[AttemptOutcome]) -> SettleCount:
        """Settle a batch; returns how many results took effect."""
        written = len(await self.write(results))
        return SettleCount(written, len(results) - written)

    async def write(self, results: Sequence[AttemptOutcome]) -> set[UUID]:
        """Settle a batch; returns the ids of the instances whose result took effect.

        1. Sort by shard and id, so that all writers lock rows in the same order.
        2. Write at most one result of each instance at a time. The result of an old attempt may arrive together with
           that of a new one, and neither must be taken for the other.
        3. If PostgreSQL refuses a row, split the batch until that row is alone. Then record its instance as DEAD with
           the reason, so that it does not block the others.
        4. Count the results that found no row: they were late.
        5. Record a span for each result of a sampled trace.
        """
        began = 0.0 if self.tracer is None else self.cell.clock.seconds()
        rows = sorted(results, key=lambda result: (result.ran.shard, result.ran.id))
        written: set[UUID] = set()
        while rows:
            part, rows = _one_each(rows)
            done = await halve(part, self._write, BAD_ROW)
            written.update(done.results)
            for refused in done.refused:
                written |= await self._mark_dead(refused)
        late = len(results) - len(written)
        self.late += late
        if late:
            log.info("settle.late", count=late, cell=self.cell.name)
        if self.tracer is not None:
            self.trace(self.tracer, results, written, began)
        return written

    def trace(self, tracer: Tracer, results: Sequence[AttemptOutcome], written: set[UUID], began: float) -> None:
        """Record the write of these results, as far as their traces are sampled."""
        ended = self.cell.clock.seconds()
        for ran in (result.ran for result in results):
            if tracer.samples(ran.id.int, ran.caller_trace):
                span_id = randomness.new_span_id()
                tracer.record(settle_span(ran, span_id, began, ended, written=ran.id in written))

    async def _write(self, rows: Sequence[AttemptOutcome]) -> list[UUID]:
        """Write one result per instance; returns the ids of the instances whose result took effect.

        1. A batch of plain successes takes the short way (`_succeed`).
        2. The rules decide about each result: the instance ends, is due again, or gets a new deadline. `tx.now` and a
           random fraction for the retry delay are arguments of the rules.
        3. One statement for each kind of decision writes all its rows. It returns only the ids of attempts that this
           process still owned; all further steps use these ids.
        4. In the same transaction: complete `once` and `delay` jobs, record the ends of steps, requested compensations
           and results, and make fires due that waited for an ended instance.
        5. If every result is a success that changes only its own instance, there is one statement, so no transaction.
        6. After the commit: pass the timers of instances that are due again to `follow`, and count what was written.
        """
        if all(_is_plain(row) for row in rows):
            return await self._succeed(rows)
        reports = await encrypt_reports(self._cipher, rows)
        counted: list[tuple[AttemptOutcome, Counts | None]] = []
        of_steps: list[EndRow] = []

        async def work(tx: Tx) -> tuple[set[UUID], list[Timer], RecordedEnds]:
            counted.clear()
            endings: list[EndRow] = []
            retries: list[RetryRow] = []
            extended: list[Extension] = []
            of_steps.clear()
            for row in rows:
                policy = row.job.definition.retry if row.job else RetryPolicy()
                decided = settle(row.ran, row.outcome, policy, tx.now, randomness.fraction())
                if isinstance(decided, NextAttempt) and self.cell.measures.in_force is not NO_MEASURES:
                    decided = self._postpone(row, decided, tx.now)
                seen = row.ran.deadline if row.rescued else None
                counted.append((row, _counts_as(row.ran, decided)))
                if isinstance(decided, InstanceEnd):
                    endings.append(EndRow(row.ran, decided, row.attempt, row.delay_ms, seen))
                    if row.job is not None and row.job.definition.step_of is not None:
                        of_steps.append(endings[-1])
                elif isinstance(decided, DeadlineExtension):
                    extended.append(Extension(row.ran, decided.deadline, row.delay_ms))
                else:
                    retries.append(RetryRow(row.ran, decided, row.attempt, row.delay_ms, seen))
            if reports.log_rows:
                await logs.append(tx, reports.log_rows)  # before the end: the row of an attempt owns its lines
            ended = await instances.end(tx, endings) if endings else set()
            again = await instances.retry_later(tx, retries) if retries else set()
            kept = await instances.extend(tx, extended) if extended else set()
            await self._complete_single(tx, rows, ended)
            recorded = await record_steps(tx, self.recorder, [end for end in of_steps if end.ran.id in ended])
            await _write_compensations(tx, rows, ended | again)
            if returned := [one for one in reports.result_rows if one.instance_id in ended]:
                await results.write(tx, returned)
            due = [_timer_of(retry) for retry in retries if retry.ran.id in again]
            return ended | again | kept, due + await self._release(tx, rows, ended), recorded

        alone = all(_changes_only_itself(row) for row in rows)
        run = self.cell.run_statements if alone else self.cell.run  # one statement if alone
        written, due, recorded = await run(work)
        for timer in (*due, *recorded.released):
            self.announce(timer)
        for shard in {end.ran.shard for end in of_steps} if recorded.undecided else ():
            self.step_ended(shard)
        self._count(counted, written)
        return list(written)

    def _postpone(self, row: AttemptOutcome, decided: NextAttempt, now: datetime) -> NextAttempt:
        """Let a retry wait longer if a measure asks for it."""
        if decided.retry_count == row.ran.retry_count:
            return decided  # the attempt did not fail
        actions = self.cell.measures.in_force.actions(row.ran.tenant_id)
        duration_ms = self.durations.of(row.ran.job_id)
        if duration_ms is None and row.attempt is not None:
            duration_ms = row.attempt.duration_ms  # it is the first result of its job here, and not counted yet
        return replace(decided, due_at=postponed_retry(actions, now, decided.due_at, duration_ms or 0))

    async def _succeed(self, rows: Sequence[AttemptOutcome]) -> list[UUID]:
        """Write a batch of plain successes, which record only their duration, with one small statement."""
        took = [(row.ran, row.attempt.duration_ms or 0) for row in rows if row.attempt is not None]

        async def work(tx: Tx) -> set[UUID]:
            return await instances.succeed(tx, took)

        written = await self.cell.run_statements(work)
        self._count([(row, Counts.SUCCESS) for row in rows], written)
        return list(written)

    def _count(self, counted: Sequence[tuple[AttemptOutcome, Counts | None]], written: set[UUID]) -> None:
        """Count only results that were written. A late result changes no statistics."""
        counts = self.cell.signal_counts
        for row, how in counted:
            ran = row.ran
            if ran.id in written:
                if how is not None:
                    counts.count_result(ran.tenant_id, ran.priority, ran.lane, how)
                if row.delay_ms is not None:
                    delay_ms = max(0, row.delay_ms - row.withheld_ms)  # what a measure withholds is not judged by it
                    counts.count_delays(ran.tenant_id, ran.priority, ran.lane, delay_ms)
                    self.cell.level_counts.count_call(ran, row.delay_ms)
                    if row.held_ms:
                        counts.count_held(ran.tenant_id, ran.priority, ran.lane, delay_ms, row.held_ms)
                if row.attempt is not None and row.attempt.duration_ms is not None:
                    self.durations.learn(ran.job_id, row.attempt.duration_ms, succeeded=how is Counts.SUCCESS)
                if row.job is not None and (labels := row.job.definition.labels) and wants_metrics(labels):
                    counts.jobs.count(row.job.id, how, row.delay_ms)

    async def _complete_single(self, tx: Tx, rows: Sequence[AttemptOutcome], ended: set[UUID]) -> None:
        """Complete `once` and `delay` jobs whose only instance has ended."""
        over = [row.job for row in rows if row.job and row.job.single and row.ran.business_key and row.ran.id in ended]
        if over:
            await jobs.complete(tx, [job.shard for job in over], [job.id for job in over])

    async def _release(self, tx: Tx, rows: Sequence[AttemptOutcome], ended: set[UUID]) -> list[Timer]:
        """Make fires due that waited for one of these instances, in the same transaction, so that none is lost."""
        freed = [
            (row.ran.shard, row.ran.job_id) for row in rows if row.job and row.job.exclusive and row.ran.id in ended
        ]
        waiting = await instances.blocked(tx, freed) if freed else []
        return await instances.release(tx, waiting) if waiting else []

    async def _mark_dead(self, refused: RefusedRow[AttemptOutcome]) -> set[UUID]:
        """Record an instance whose result PostgreSQL refused as DEAD, with the reason."""
        ran, reason = refused.row.ran, refused.reason
        log.error("settle.refused", **ran.ids(), reason=reason)
        ended = InstanceEnd(State.DEAD, ran.retry_count, error_code=ErrorCode.REFUSED, error_msg=reason[:500])

        async def work(tx: Tx) -> tuple[set[UUID], list[Timer]]:
            over = await instances.end(tx, [EndRow(ran, ended)])
            return over, await self._release(tx, [refused.row], over)

        written, due = await self.cell.run(work)
        for timer in due:
            self.announce(timer)
        self._count([(refused.row, Counts.DEAD)], written)
        return written


def _one_each(rows: list[AttemptOutcome]) -> tuple[list[AttemptOutcome], list[AttemptOutcome]]:
    """Split rows into one result per instance and the rest, which is nearly always empty."""
    first = {row.ran.id: row for row in reversed(rows)}
    if len(first) == len(rows):
        return rows, []
    return [row for row in rows if first[row.ran.id] is row], [row for row in rows if first[row.ran.id] is not row]


def _changes_only_itself(row: AttemptOutcome) -> bool:
    """Whether the result changes only its own instance."""
    plain = row.job is not None and row.job.ends_alone and isinstance(row.outcome, Success)
    return plain and not row.compensations and row.result is None and not row.lines


def _is_plain(row: AttemptOutcome) -> bool:
    """Whether it is a worker's success with nothing else to record."""
    attempt = row.attempt
    if attempt is None or attempt.node is not None:
        return False
    bare = attempt.status is None and attempt.code is None and attempt.answer is None
    return bare and row.delay_ms is None and not row.rescued and _changes_only_itself(row)


async def _write_compensations(tx: Tx, rows: Sequence[AttemptOutcome], written: set[UUID]) -> None:
    """Write the compensations that attempts request, in the transaction that ends them. A relay creates the tasks."""
    asked = [
        OutboxRow(row.ran.shard, row.ran.tenant_id, row.ran.job_id, row.ran.id, _body(one, number, tx.now))
        for row in rows
        if row.ran.id in written
        for number, one in enumerate(row.compensations)
    ]
    if asked:
        await outbox.append_many(tx, Event.COMPENSATION_ASKED, asked)


def _body(one: Compensation, number: int, now: datetime) -> object:
    """The body of one request, with its due time, which does not depend on when it is read, and its own number."""
    said = msgspec.to_builtins(msgspec.structs.replace(one, at=one.at or now))
    return {"number": number, **said}


def _counts_as(ran: Instance, decided: InstanceEnd | NextAttempt | DeadlineExtension) -> Counts | None:
    if isinstance(decided, InstanceEnd):
        return ENDINGS.get(decided.state)
    return Counts.FAILED if isinstance(decided, NextAttempt) and decided.retry_count > ran.retry_count else None


def _timer_of(retry: RetryRow) -> Timer:
    ran = retry.ran
    lane = Lane.RETRY if ran.lane == Lane.FIRST and retry.next.retry_count else ran.lane
    return Timer(ran.shard, ran.id, retry.next.due_at, ran.tenant_id, ran.priority, lane, ran.job_id, ran.job_version)
