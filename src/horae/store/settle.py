"""Settle what came back: rules decide, one transaction writes, and what is no longer ours is refused and counted."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.compensations import Compensation
from horae.domain.events import Event
from horae.domain.instances import Instance, Lane
from horae.domain.jobs import Job
from horae.domain.lifecycle import State
from horae.domain.outcomes import Again, Ended, ErrorCode, Extended, Outcome, Success, settle
from horae.domain.retries import RetryPolicy
from horae.domain.signals import Ending as Counts
from horae.domain.timers import Timer
from horae.runtime import chance
from horae.runtime.batch import Refused, halve
from horae.runtime.telemetry import log
from horae.store import instances, jobs, outbox
from horae.store.cells import Cell
from horae.store.instances import Attempt, Ending, Extension, Retrying
from horae.store.outbox import Told
from horae.store.tx import BAD_ROW, Tx

ENDINGS: Final = {State.SUCCESS: Counts.SUCCESS, State.DEAD: Counts.DEAD, State.SKIPPED: Counts.SKIPPED}


class Result(NamedTuple):
    """What came of one attempt."""

    ran: Instance
    job: Job | None
    outcome: Outcome
    attempt: Attempt | None = None
    delay_ms: int | None = None
    rescued: bool = False
    compensations: Sequence[Compensation] = ()


class Settled(NamedTuple):
    """How many were settled, and how many were no longer ours."""

    written: int
    refused: int


class Settler:
    """Writes results in batches. What is due again is told to `follow`.

    `late` counts answers of attempts that had been taken from us meanwhile.
    """

    def __init__(self, cell: Cell, follow: Callable[[Timer], None] = lambda _timer: None) -> None:
        self.cell = cell
        self.follow = follow
        self.late = 0

    async def settle(self, results: Sequence[Result]) -> Settled:
        """Settle a batch; returns how many took effect."""
        written = len(await self.write(results))
        return Settled(written, len(results) - written)

    async def write(self, results: Sequence[Result]) -> set[UUID]:
        """Settle a batch and say which took effect.

        One bad row stands alone and is written down as DEAD with the reason it gave. An old attempt's answer may come
        together with the new one's: they are written one after the other, so that none is taken for the other.
        """
        rows = sorted(results, key=lambda result: (result.ran.shard, result.ran.id))
        written: set[UUID] = set()
        while rows:
            part, rows = _one_each(rows)
            done = await halve(part, self._write, BAD_ROW)
            written.update(done.results)
            for refused in done.refused:
                written |= await self._bury(refused)
        late = len(results) - len(written)
        self.late += late
        if late:
            log.info("settle.late", count=late, cell=self.cell.name)
        return written

    async def _write(self, rows: Sequence[Result]) -> list[UUID]:
        if all(_is_plain(row) for row in rows):
            return await self._succeed(rows)
        counted: list[tuple[Result, Counts | None]] = []

        async def work(tx: Tx) -> tuple[set[UUID], list[Timer]]:
            counted.clear()
            endings: list[Ending] = []
            retries: list[Retrying] = []
            extended: list[Extension] = []
            for row in rows:
                policy = row.job.definition.retry if row.job else RetryPolicy()
                decided = settle(row.ran, row.outcome, policy, tx.now, chance.fraction())
                seen = row.ran.deadline if row.rescued else None
                counted.append((row, _counts_as(row.ran, decided)))
                if isinstance(decided, Ended):
                    endings.append(Ending(row.ran, decided, row.attempt, row.delay_ms, seen))
                elif isinstance(decided, Extended):
                    extended.append(Extension(row.ran, decided.deadline, row.delay_ms))
                else:
                    retries.append(Retrying(row.ran, decided, row.attempt, row.delay_ms, seen))
            ended = await instances.end(tx, endings) if endings else set()
            again = await instances.again(tx, retries) if retries else set()
            kept = await instances.extend(tx, extended) if extended else set()
            await self._complete_single(tx, rows, ended)
            await _ask(tx, rows, ended | again)
            due = [_timer_of(retry) for retry in retries if retry.ran.id in again]
            return ended | again | kept, due + await self._release(tx, rows, ended)

        alone = all(_by_itself(row) for row in rows)
        written, due = await (self.cell.run_statements if alone else self.cell.run)(work)  # alone: one statement
        for timer in due:
            self.follow(timer)
        self._count(counted, written)
        return list(written)

    async def _succeed(self, rows: Sequence[Result]) -> list[UUID]:
        """Nothing but successes that tell no more than how long they took: one lean statement."""
        took = [(row.ran, row.attempt.duration_ms or 0) for row in rows if row.attempt is not None]

        async def work(tx: Tx) -> set[UUID]:
            return await instances.succeed(tx, took)

        written = await self.cell.run_statements(work)
        self._count([(row, Counts.SUCCESS) for row in rows], written)
        return list(written)

    def _count(self, counted: Sequence[tuple[Result, Counts | None]], written: set[UUID]) -> None:
        """Only what was written: a late answer is nobody's outcome."""
        tally = self.cell.tally
        for row, how in counted:
            ran = row.ran
            if ran.id in written:
                if how is not None:
                    tally.ended(ran.tenant_id, ran.priority, ran.lane, how)
                if row.delay_ms is not None:
                    tally.delayed(ran.tenant_id, ran.priority, ran.lane, row.delay_ms)

    async def _complete_single(self, tx: Tx, rows: Sequence[Result], ended: set[UUID]) -> None:
        """A once or delay job whose only instance ended has no fire left."""
        over = [row.job for row in rows if row.job and row.job.single and row.ran.business_key and row.ran.id in ended]
        if over:
            await jobs.complete(tx, [job.shard for job in over], [job.id for job in over])

    async def _release(self, tx: Tx, rows: Sequence[Result], ended: set[UUID]) -> list[Timer]:
        """What waited for one of these to end is due now, in the same transaction: it cannot be forgotten."""
        freed = [
            (row.ran.shard, row.ran.job_id) for row in rows if row.job and row.job.exclusive and row.ran.id in ended
        ]
        waiting = await instances.blocked(tx, freed) if freed else []
        return await instances.release(tx, waiting) if waiting else []

    async def _bury(self, refused: Refused[Result]) -> set[UUID]:
        ran, reason = refused.row.ran, refused.reason
        log.error("settle.refused", instance=str(ran.id), reason=reason)
        ended = Ended(State.DEAD, ran.retry_count, error_code=ErrorCode.REFUSED, error_msg=reason[:500])

        async def work(tx: Tx) -> tuple[set[UUID], list[Timer]]:
            over = await instances.end(tx, [Ending(ran, ended)])
            return over, await self._release(tx, [refused.row], over)

        written, due = await self.cell.run(work)
        for timer in due:
            self.follow(timer)
        self._count([(refused.row, Counts.DEAD)], written)
        return written


def _one_each(rows: list[Result]) -> tuple[list[Result], list[Result]]:
    """One result of each instance, and the rest, which is nearly always empty."""
    first = {row.ran.id: row for row in reversed(rows)}
    if len(first) == len(rows):
        return rows, []
    return [row for row in rows if first[row.ran.id] is row], [row for row in rows if first[row.ran.id] is not row]


def _by_itself(row: Result) -> bool:
    """Whether its end changes nothing but that instance."""
    plain = row.job is not None and not row.job.single and not row.job.exclusive
    return plain and isinstance(row.outcome, Success) and not row.compensations


def _is_plain(row: Result) -> bool:
    """Whether a worker said that it is done, and nothing else."""
    told = row.attempt
    bare = told is not None and told.status is None and told.code is None and told.answer is None
    return bare and row.delay_ms is None and not row.rescued and _by_itself(row)


async def _ask(tx: Tx, rows: Sequence[Result], written: set[UUID]) -> None:
    """What an attempt asks for is written down with its end, in one transaction; a relay makes tasks of it."""
    asked = [
        Told(row.ran.shard, row.ran.tenant_id, row.ran.job_id, row.ran.id, _body(one, number, tx.now))
        for row in rows
        if row.ran.id in written
        for number, one in enumerate(row.compensations)
    ]
    if asked:
        await outbox.append_many(tx, Event.COMPENSATION_ASKED, asked)


def _body(one: Compensation, number: int, now: datetime) -> object:
    """With the time it is to be due, whenever it is read, and a number of its own."""
    said = msgspec.to_builtins(msgspec.structs.replace(one, at=one.at or now))
    return {"number": number, **said}


def _counts_as(ran: Instance, decided: Ended | Again | Extended) -> Counts | None:
    if isinstance(decided, Ended):
        return ENDINGS.get(decided.state)
    return Counts.FAILED if isinstance(decided, Again) and decided.retry_count > ran.retry_count else None


def _timer_of(retry: Retrying) -> Timer:
    ran = retry.ran
    lane = Lane.RETRY if ran.lane == Lane.FIRST and retry.again.retry_count else ran.lane
    return Timer(ran.shard, ran.id, retry.again.due_at, ran.tenant_id, ran.priority, lane, ran.job_id, ran.job_version)
