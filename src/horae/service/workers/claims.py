"""Claims of workers: which due instances of a queue a worker gets, in which order, and with which data."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import chain
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.encryption.encrypted_values import EncryptedValue, payload_of
from horae.domain.errors import HoraeError, KeysUnavailable, Unavailable, Unopenable
from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Instance, Lane
from horae.domain.instances.outcomes import (
    ErrorCode,
    FailedProbe,
    InstanceEnd,
    LostAttempt,
    NextAttempt,
    Unrecoverable,
    end_of_removed_job,
    settle,
)
from horae.domain.instances.retries import RetryPolicy
from horae.domain.jobs.jobs import Job
from horae.domain.measures.in_force import NO_MEASURES
from horae.domain.workers.completion_tokens import completion_token_maker
from horae.domain.workers.workers import ClaimedAttempt, WorkerDrained, check_many, check_queue, check_worker
from horae.runtime import randomness
from horae.runtime.telemetry import log
from horae.runtime.tracing import Tracer
from horae.service.context import Context
from horae.service.workers.answer_sizes import (
    MAX_ANSWER_BYTES,
    MAX_ATTEMPT_BYTES,
    AnswerTooLarge,
    attempt_sizes,
    fitting,
)
from horae.service.workers.traces import trace_claims
from horae.store.connections.each_cell import UNSERVED, ask_each
from horae.store.instances import instances
from horae.store.instances.instances import EndRow, RetryRow
from horae.store.jobs import jobs
from horae.store.protocol import CellProtocol
from horae.store.tx import GONE, Tx
from horae.store.workers import workers
from horae.store.workers.workers import DueQueue, QueueKey

BATCH: Final = 200
"""Instances that one claim returns by default."""
BACKFILL_TURN: Final = 16
"""Every so many claims of a process are the turn of backfills: about the share that they have of a node's slots."""
LEFT_OUT: Final[tuple[type[Exception], ...]] = (HoraeError, *UNSERVED)
"""Errors for which a claim leaves out a class (priority and lane) of a cell."""
Given = tuple[ClaimedAttempt, Instance, bool]
"""A claimed attempt, its instance, and whether its end changes no other row."""


class AnswerRoom(NamedTuple):
    """The bytes that attempts may have. `claimed` is filled with their sizes."""

    bytes: int
    claimed: list[int]


class DueClass(NamedTuple):
    """A class (priority and lane) of a queue in one cell that has due instances."""

    cell: CellProtocol
    queue: QueueKey
    waits: DueQueue


async def claim(ctx: Context, queue: str, worker_id: str, limit: int = BATCH) -> list[ClaimedAttempt]:
    """Claim due instances of a queue by priority; within a priority backfills last, otherwise the oldest first.

    In one claim of `BACKFILL_TURN` backfills come first within their priority, so that more due work than the workers
    can do does not let them wait for ever.

    It may return fewer than asked. A cell that is down is left out. The answer has at most `MAX_ANSWER_BYTES`; the rest
    stays in the queue. Raises `WorkerDrained`, and claims nothing, if any cell knows the worker as drained.
    """
    check_worker(worker_id)
    check_many(limit)
    check_queue(queue)
    await ctx.store.cipher.warm(ctx.tenant.id)
    looks = (await ask_each(ctx.store.cells, lambda cell: _due_classes(ctx, cell, queue, worker_id))).found
    if not looks:
        raise Unavailable("no cell answers now; nothing was claimed")
    taken: list[ClaimedAttempt] = []
    room = MAX_ANSWER_BYTES if limit * MAX_ATTEMPT_BYTES > MAX_ANSWER_BYTES else None  # None: it fits anyway
    failed: Exception | None = None
    order = _urgency if next(ctx.memory.claims) % BACKFILL_TURN else _backfills_first
    for look in sorted(chain.from_iterable(looks.values()), key=order):
        if len(taken) >= limit or room == 0:
            break
        try:
            found, room = await _claim_class(ctx, look, worker_id, limit - len(taken), room)
            taken += found
        except LEFT_OUT as error:  # attempts that are already claimed must still reach the worker
            log.warning("claim.cell_skipped", cell=look.cell.name, reason=str(error) or type(error).__name__)
            failed = failed if isinstance(error, GONE) else error
    if failed is not None and not taken:
        raise failed
    return taken


async def _due_classes(ctx: Context, cell: CellProtocol, name: str, worker_id: str) -> list[DueClass]:
    """Returns the classes of one cell that have due instances."""
    async with cell.statement() as tx:
        queue = QueueKey(ctx.tenant.id, name)
        due = await workers.due_classes(tx, queue, worker_id)
    if due is None:
        raise WorkerDrained
    if (measures := cell.measures.in_force) is not NO_MEASURES:
        due = [waits for waits in due if not measures.withholds(ctx.tenant.id, waits.priority)]
    return [DueClass(cell, queue, waits) for waits in due]


def _urgency(look: DueClass) -> tuple[object, ...]:
    """Sort key of a class. First attempts and retries rank equally, so neither starves behind the other's backlog."""
    waits = look.waits
    return waits.priority, waits.lane == Lane.BACKFILL, waits.oldest


def _backfills_first(look: DueClass) -> tuple[object, ...]:
    """Sort key of a class in the turn of backfills."""
    waits = look.waits
    return waits.priority, waits.lane != Lane.BACKFILL, waits.oldest


async def _claim_class(
    ctx: Context, look: DueClass, worker_id: str, limit: int, room: int | None
) -> tuple[list[ClaimedAttempt], int | None]:
    """Claim from one class at most `room` bytes; returns the attempts and the room that is left.

    1. Claim as many as fitted on average at this queue the last time.
    2. If they are too large, the transaction is rolled back, so that nothing is claimed. Claim as many as fit.
    3. The room is 0 if the next attempt does not fit.
    """
    if room is None:
        return await _take_some(ctx, look, worker_id, limit, None), None
    sizes = ctx.memory.answer_sizes
    most = min(limit, sizes.most(look.queue, room))
    while most:
        claimed: list[int] = []
        try:
            taken = await _take_some(ctx, look, worker_id, most, AnswerRoom(room, claimed))
        except AnswerTooLarge as error:
            most = error.fits
            sizes.learn(look.queue, claimed)
            continue
        sizes.learn(look.queue, claimed)
        return taken, max(0, room - sum(claimed))
    return [], 0


async def _take_some(
    ctx: Context, look: DueClass, worker_id: str, limit: int, room: "AnswerRoom | None"
) -> list[ClaimedAttempt]:
    """Claim from one class and load its definitions in one transaction, so that a failure hands out nothing."""
    waits = look.waits

    async def work(tx: Tx) -> list[Given]:
        token = randomness.new_token()
        ran = await workers.claim(tx, look.queue, waits.priority, waits.lane, limit, token, worker_id)
        return await _hand_out(ctx, tx, ran, room)

    given = await look.cell.run(work)
    ctx.handed.keep(given)
    if ctx.memory.tracer is not None:
        trace_claims(ctx.memory.tracer, given)
    first = [(one, ran) for one, ran, _ in given if ran.attempt == 1]
    late = [_milliseconds(one.claimed_at - ran.due_at) for one, ran in first]
    if look.cell.measures.withheld.known:
        late = [_judged_delay_ms(look, ran, delay_ms) for (_, ran), delay_ms in zip(first, late, strict=True)]
    look.cell.signal_counts.count_delays(ctx.tenant.id, waits.priority, waits.lane, *late)
    for _, ran in first:
        look.cell.level_counts.count_claim(ran)
    return [one for one, _, _ in given]


def _judged_delay_ms(look: DueClass, ran: Instance, delay_ms: int) -> int:
    """Returns how late a worker got an attempt, without the time for which a measure withheld it."""
    due_at = ran.due_at.timestamp()
    withheld = look.cell.measures.withheld
    return delay_ms - withheld.overlap_ms(ran.tenant_id, ran.priority, due_at, due_at + delay_ms / 1000)


def _milliseconds(span: timedelta) -> int:
    """Returns whole milliseconds. A division of timedeltas takes three times as long."""
    return (span.days * 86_400 + span.seconds) * 1000 + span.microseconds // 1000


async def _hand_out(ctx: Context, tx: Tx, claimed: list[Instance], room: AnswerRoom | None) -> list[Given]:
    """Returns the attempts for the worker, with decrypted payloads. Ends or puts back the others.

    1. An instance of a removed job ends here.
    2. An instance whose job version has not reached this cell yet is put back; the attempt does not count.
    3. An instance whose data keys are unavailable now is put back; that does not count as a failure.
    4. An instance that can never be decrypted is DEAD.

    Raises `AnswerTooLarge`, before anything is written, where they have more bytes than there is room for.
    """
    if not claimed:
        return []
    known = await ctx.definitions.jobs_of(tx, claimed)
    if room is not None:
        room.claimed[:] = attempt_sizes(claimed, known)
        if (fits := fitting(room.claimed, room.bytes)) < len(claimed):
            raise AnswerTooLarge(fits)
    gone = await jobs.removed(tx, {ran.job_id for ran in claimed})
    endings = [EndRow(ran, end_of_removed_job(ran)) for ran in claimed if ran.job_id in gone] if gone else []
    kinds = {version: _kind(job) for version, job in known.items() if version[0] not in gone}
    assert claimed[0].token is not None, "what was just claimed has a token: all of them the same"
    complete, now, tracer = completion_token_maker(claimed[0].token), tx.now, ctx.memory.tracer
    handed: list[Given] = []
    back = []
    for ran in claimed:
        kind = kinds.get((ran.job_id, ran.job_version))
        if kind is None:
            if ran.job_id not in gone:
                back.append(_put_back(ran, tx))
            continue
        job, alone, clear = kind
        if clear and type(ran.payload) is not EncryptedValue:
            handed.append((_claimed_attempt(ran, job, now, complete, tracer), ran, alone))
            continue
        opened = await _decrypt(ctx, ran, job, now)
        if isinstance(opened, RetryRow):
            back.append(opened)
        elif isinstance(opened, EndRow):
            endings.append(opened)
        else:
            handed.append((_claimed_attempt(opened, job, now, complete, tracer), opened, alone))
    if endings:
        await instances.end(tx, endings)
    if back:
        await instances.retry_later(tx, back)
    return handed


def _kind(job: Job) -> tuple[Job, bool, bool]:
    """Returns a job, whether the end of its instances changes no other row, and whether its definition is readable."""
    return job, job.ends_alone, job.definition.sealed is None


async def _decrypt(ctx: Context, ran: Instance, job: Job, now: datetime) -> Instance | RetryRow | EndRow:
    """Returns the instance with its decrypted payload, or the row that puts it back or ends it."""
    try:
        if job.definition.sealed is not None:
            raise KeysUnavailable("its job's definition is encrypted and cannot be decrypted now")
        payload = await ctx.store.cipher.decrypt(ran.tenant_id, payload_of(ran.job_id, ran.idem_key), ran.payload)
    except KeysUnavailable as error:
        again = settle(ran, FailedProbe(ErrorCode.SEALED, str(error)), RetryPolicy(), now, randomness.fraction())
        assert isinstance(again, NextAttempt)
        return RetryRow(ran, again)
    except Unopenable as error:
        ended = settle(ran, Unrecoverable(ErrorCode.SEALED, str(error)), RetryPolicy(), now, 0.0)
        assert isinstance(ended, InstanceEnd)
        return EndRow(ran, ended)
    return ran if payload is ran.payload else replace(ran, payload=payload)


def _put_back(ran: Instance, tx: Tx) -> RetryRow:
    again = settle(ran, LostAttempt(), RetryPolicy(), tx.now, randomness.fraction())
    assert isinstance(again, NextAttempt)
    return RetryRow(ran, again)


def _claimed_attempt(
    ran: Instance, job: Job, now: datetime, complete: Callable[[UUID, int], str], tracer: Tracer | None
) -> ClaimedAttempt:
    assert ran.deadline is not None, "what was just claimed has a deadline"
    return ClaimedAttempt(
        instance_id=ran.id,
        public_id=public(Prefix.INSTANCE, ran.id),
        job=job.name,
        attempt=ran.attempt,
        fire_time=ran.fire_time,
        idempotency_key=ran.idem_key,
        deadline=ran.deadline,
        token=complete(ran.id, ran.attempt),
        claimed_at=now,
        key=ran.business_key,
        payload=job.definition.payload if ran.payload is None else ran.payload,
        sampled=tracer is None or tracer.samples(ran.id.int, ran.caller_trace),
    )
