"""Puts right what an audit of fires found, in the ways of the engine.

A cursor that stands still is planned again. A fire that is missing is backfilled.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import HoraeError
from horae.domain.fire_audit.findings import FireFault, FireFinding
from horae.domain.ids import shard_in
from horae.domain.jobs.jobs import Status
from horae.domain.schedules import wake_after_change
from horae.service.context import Context
from horae.service.schedules import backfills
from horae.service.schedules.backfills import BackfillRequest
from horae.store.jobs import jobs
from horae.store.protocol import StoreProtocol
from horae.store.schedules import cursors
from horae.store.tenants import tenants
from horae.store.tx import Tx

BACKFILLED: Final = frozenset({FireFault.MISSING, FireFault.LOST_BACKFILL})
"""Findings that a backfill of the fire puts right."""
AFTER_FIRE: Final = timedelta(microseconds=1)


class FireRepair(NamedTuple):
    """What was done about some findings of a job: `done` says it, or `refused` says why it could not be done."""

    job: str
    at: datetime
    findings: int
    fires: int
    done: str | None
    refused: str | None = None


async def plan_again(store: StoreProtocol, tenant_id: UUID, job_id: UUID) -> datetime | None:
    """Put the cursor of a job right. Returns where it stands then; None if it was right, or the job has no cursor.

    1. A cursor that is due stays: its fires are owed. Nodes get a wake for it.
    2. Any other cursor is set to the next fire of the schedule, unless it has moved meanwhile.
    """
    shard = shard_in(job_id)
    cell = store.cell(shard)

    async def work(tx: Tx) -> datetime | None:
        job = await jobs.by_id(tx, tenant_id, job_id)
        if job is None or job.status != Status.ACTIVE or not job.recurring:
            return None
        if job.next_fire_at is not None and job.next_fire_at <= tx.now:
            return job.next_fire_at
        schedule = job.schedule({})
        wake = wake_after_change(schedule, schedule, job.next_fire_at, tx.now)
        if wake is None or wake == job.next_fire_at:
            return None
        return wake if await cursors.revise(tx, job, job.version, wake) else None

    stands = await cell.run(work)
    store.wakes.wake(shard, stands)
    return stands


async def repair(store: StoreProtocol, found: Iterable[FireFinding], actor: str) -> list[FireRepair]:
    """Plan cursors again that stand still, and backfill fires that are missing. Other findings need a person."""
    by_job: defaultdict[tuple[UUID, UUID], list[FireFinding]] = defaultdict(list)
    for one in found:
        by_job[one.tenant_id, one.job_id].append(one)
    done: list[FireRepair] = []
    for (tenant_id, job_id), own in by_job.items():
        done += await _repair_job(store, tenant_id, job_id, own, actor)
    return done


def unrepaired(found: Sequence[FireFinding], repairs: Iterable[FireRepair]) -> bool:
    """Whether something was found that nothing was done about."""
    done = [one for one in repairs if one.done is not None]
    return len(found) > sum(one.findings for one in done)


async def _repair_job(
    store: StoreProtocol, tenant_id: UUID, job_id: UUID, found: Sequence[FireFinding], actor: str
) -> list[FireRepair]:
    done = []
    for one in found:
        if one.fault is FireFault.STANDS_STILL:
            try:
                stands = await plan_again(store, tenant_id, job_id)
            except HoraeError as error:
                done.append(FireRepair(one.job, one.at, 1, one.fires, None, str(error)))
            else:
                where = "was right meanwhile" if stands is None else f"stands at {stands}"
                done.append(FireRepair(one.job, one.at, 1, one.fires, f"the cursor {where}"))
    lost = sorted(one.at for one in found if one.fault in BACKFILLED)
    if lost:
        done.append(await _backfill(store, tenant_id, found[0].job, lost, actor))
    return done


async def _backfill(
    store: StoreProtocol, tenant_id: UUID, job: str, lost: Sequence[datetime], actor: str
) -> FireRepair:
    """Start one backfill from the first to the last missing fire. Fires that have succeeded are left out by it."""
    first, until = lost[0], lost[-1] + AFTER_FIRE
    try:
        async with store.cell(shard_in(tenant_id)).statement() as tx:
            known = await tenants.known(tx, tenant_id)
        if known is None:
            return FireRepair(job, first, len(lost), len(lost), None, "its tenant is not known")
        ctx = Context.of(store, known[0], actor)
        key = f"audit:{first.timestamp():.6f}:{until.timestamp():.6f}"
        await backfills.start(ctx, job, key, BackfillRequest(first, until))
    except HoraeError as error:
        return FireRepair(job, first, len(lost), len(lost), None, str(error))
    return FireRepair(job, first, len(lost), len(lost), f"a backfill runs from {first} to {lost[-1]}")
