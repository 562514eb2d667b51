"""Work handed to pull workers: what of a queue is due, in which order, and what each worker gets to see."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import chain
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.errors import HoraeError, KeysUnavailable, Unavailable, Unopenable
from horae.domain.ids import Prefix, public
from horae.domain.instances import Instance, Lane
from horae.domain.jobs import Job
from horae.domain.outcomes import Again, Ended, ErrorCode, Lost, Probed, Unrecoverable, removed, settle
from horae.domain.retries import RetryPolicy
from horae.domain.sealed import Sealed, payload_of
from horae.domain.tokens import completing
from horae.domain.workers import Claimed, check_many, check_worker
from horae.runtime import chance
from horae.runtime.telemetry import log
from horae.service.context import Context
from horae.store import instances, jobs, workers
from horae.store.cells import Cell
from horae.store.each import UNSERVED, ask_each
from horae.store.instances import Ending, Retrying
from horae.store.tx import GONE, Tx
from horae.store.workers import Queue, Waiting

BATCH: Final = 200
LEFT_OUT: Final[tuple[type[Exception], ...]] = (HoraeError, *UNSERVED)
"""Why a class of a cell is left out of a claim."""
Given = tuple[Claimed, Instance, bool]
"""What a worker gets, its row, and whether its end changes nothing but that row."""


class Look(NamedTuple):
    """A class of one cell of which something is due."""

    cell: Cell
    queue: Queue
    waits: Waiting


async def claim(ctx: Context, queue: str, worker_id: str, limit: int = BATCH) -> list[Claimed]:
    """Take due instances of a queue: critical before normal before low, a backfill last, else the oldest first.

    Fewer than asked is normal. A cell that is down is left out; what the others hold is handed out.
    """
    check_worker(worker_id)
    check_many(limit)
    await ctx.store.sealing.warm(ctx.tenant.id)
    looks = (await ask_each(ctx.store.cells, lambda cell: _look(ctx, cell, queue))).found
    if not looks:
        raise Unavailable("no cell answers now; nothing was claimed")
    taken: list[Claimed] = []
    failed: Exception | None = None
    for look in sorted(chain.from_iterable(looks.values()), key=_urgency):
        if len(taken) >= limit:
            break
        try:
            taken += await _take(ctx, look, worker_id, limit - len(taken))
        except LEFT_OUT as error:  # what was taken already must still reach the worker
            log.warning("claim.cell_left_out", cell=look.cell.name, reason=str(error) or type(error).__name__)
            failed = failed if isinstance(error, GONE) else error
    if failed is not None and not taken:
        raise failed
    return taken


async def _look(ctx: Context, cell: Cell, name: str) -> list[Look]:
    """What waits in one cell."""
    async with cell.statement() as tx:
        queue = Queue(ctx.tenant.id, name)
        return [Look(cell, queue, waits) for waits in await workers.waiting(tx, queue)]


def _urgency(look: Look) -> tuple[object, ...]:
    """First tries and retries are one another's equals, so that neither starves behind a backlog of the other."""
    waits = look.waits
    return waits.priority, waits.lane == Lane.BACKFILL, waits.oldest


async def _take(ctx: Context, look: Look, worker_id: str, limit: int) -> list[Claimed]:
    """Claim one class in one transaction with its definitions: what fails in between was never handed out."""
    waits = look.waits

    async def work(tx: Tx) -> list[Given]:
        token = chance.token()
        ran = await workers.claim(tx, look.queue, waits.priority, waits.lane, limit, token, worker_id)
        return await _hand_out(ctx, tx, ran)

    given = await look.cell.run(work)
    ctx.handed.keep(given)
    late = [_milliseconds(one.claimed_at - ran.due_at) for one, ran, _ in given if ran.attempt == 1]
    look.cell.tally.delayed(ctx.tenant.id, waits.priority, waits.lane, *late)
    return [one for one, _, _ in given]


def _milliseconds(span: timedelta) -> int:
    """Whole ones: the division of spans by each other takes three times as long."""
    return (span.days * 86_400 + span.seconds) * 1000 + span.microseconds // 1000


async def _hand_out(ctx: Context, tx: Tx, claimed: list[Instance]) -> list[Given]:
    """What the worker gets. Work of a removed job ends here, that whose type's copy is on its way waits uncounted."""
    if not claimed:
        return []
    known = await ctx.definitions.behind(tx, claimed)
    gone = await jobs.removed(tx, {ran.job_id for ran in claimed})
    endings = [Ending(ran, removed(ran)) for ran in claimed if ran.job_id in gone] if gone else []
    kinds = {version: _kind(job) for version, job in known.items() if version[0] not in gone}
    assert claimed[0].token is not None, "what was just claimed has a token: all of them the same"
    complete, now = completing(claimed[0].token), tx.now
    handed: list[Given] = []
    back = []
    for ran in claimed:
        kind = kinds.get((ran.job_id, ran.job_version))
        if kind is None:
            if ran.job_id not in gone:
                back.append(_back(ran, tx))
            continue
        job, alone, clear = kind
        if clear and type(ran.payload) is not Sealed:
            handed.append((_claimed(ran, job, now, complete), ran, alone))
            continue
        opened = await _opened(ctx, ran, job, now)
        if isinstance(opened, Retrying):
            back.append(opened)
        elif isinstance(opened, Ending):
            endings.append(opened)
        else:
            handed.append((_claimed(opened, job, now, complete), opened, alone))
    if endings:
        await instances.end(tx, endings)
    if back:
        await instances.again(tx, back)
    return handed


def _kind(job: Job) -> tuple[Job, bool, bool]:
    """A job; whether the end of an instance of it changes nothing else, and whether its definition is readable."""
    return job, not (job.single or job.exclusive), job.definition.sealed is None


async def _opened(ctx: Context, ran: Instance, job: Job, now: datetime) -> Instance | Retrying | Ending:
    """What a worker may read. Where keys are missing now it waits uncounted; what never opens again is dead."""
    try:
        if job.definition.sealed is not None:
            raise KeysUnavailable("what its job says is sealed, and cannot be opened now")
        payload = await ctx.store.sealing.open(ran.tenant_id, payload_of(ran.job_id, ran.idem_key), ran.payload)
    except KeysUnavailable as error:
        again = settle(ran, Probed(ErrorCode.SEALED, str(error)), RetryPolicy(), now, chance.fraction())
        assert isinstance(again, Again)
        return Retrying(ran, again)
    except Unopenable as error:
        ended = settle(ran, Unrecoverable(ErrorCode.SEALED, str(error)), RetryPolicy(), now, 0.0)
        assert isinstance(ended, Ended)
        return Ending(ran, ended)
    return ran if payload is ran.payload else replace(ran, payload=payload)


def _back(ran: Instance, tx: Tx) -> Retrying:
    again = settle(ran, Lost(), RetryPolicy(), tx.now, chance.fraction())
    assert isinstance(again, Again)
    return Retrying(ran, again)


def _claimed(ran: Instance, job: Job, now: datetime, complete: Callable[[UUID, int], str]) -> Claimed:
    assert ran.deadline is not None, "what was just claimed has a deadline"
    return Claimed(
        instance_id=ran.id,
        shown_id=public(Prefix.INSTANCE, ran.id),
        job=job.name,
        attempt=ran.attempt,
        fire_time=ran.fire_time,
        idempotency_key=ran.idem_key,
        deadline=ran.deadline,
        token=complete(ran.id, ran.attempt),
        claimed_at=now,
        key=ran.business_key,
        payload=job.definition.payload if ran.payload is None else ran.payload,
    )
