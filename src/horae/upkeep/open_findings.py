"""Judges open findings of the audit of fires again, and ends those that are not found any more."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.fire_audit.comparison import GRACE
from horae.domain.fire_audit.findings import FireFault
from horae.domain.fire_audit.histories import ACTIVE
from horae.runtime.telemetry import log
from horae.service.audit.fire_facts import ENDS_BEFORE, CellAnswers
from horae.service.audit.fires import AuditRange, judge_again
from horae.store.audit import findings, fire_positions, fires
from horae.store.audit.findings import FindingKey
from horae.store.audit.fires import JobRow
from horae.store.databases import days
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx
from horae.upkeep import fire_findings

STILL_AFTER: Final = timedelta(seconds=60)
"""How long a cursor is overdue before it may be said to stand still: a late node moves it within this time."""
LONGEST_WALK: Final = timedelta(hours=2)
"""The longest range that a walk judges: of one job, so many fires are judged without a pause."""
RECHECK_INTERVAL: Final = timedelta(minutes=5)
"""How long an open finding is not judged again."""
STILL_RECHECK_INTERVAL: Final = timedelta(seconds=10)
"""The same for a cursor that stands still: it may move at any time."""
RECHECKED_PER_ROUND: Final = 20
"""Open findings that a round judges again."""
BEFORE_ALL: Final = datetime.min.replace(tzinfo=UTC)


class KnownFacts(NamedTuple):
    """What is known when findings are judged again: their jobs, the first time with all rows, and the time now."""

    jobs: Mapping[UUID, JobRow]
    kept_from: datetime
    now: datetime


async def recheck(answers: CellAnswers, cell: CellProtocol) -> None:
    """Judge some open findings of a cell again. With another cell down nothing ends: rows may be missing."""
    async with cell.statement() as tx:
        now = tx.now
        known = await findings.unseen(tx, now - RECHECK_INTERVAL, now - STILL_RECHECK_INTERVAL, RECHECKED_PER_ROUND)
        places = sorted({(one.key.shard, one.key.job_id) for one in known})
        rows = await fires.jobs_at(tx, places) if known else []
    if not known:
        return
    facts = KnownFacts({job.id: job for job in rows}, await first_kept(cell), now)
    seen = [one.key for one in known if await _is_found(answers, cell, one.key, facts)]
    if answers.down:
        return
    over = [one.key for one in known if one.key not in seen]

    async def work(tx: Tx) -> int:
        await fire_positions.lock(tx)
        if seen:
            await findings.mark_seen(tx, seen)
        return await fire_findings.end(tx, over)

    ended = await cell.run(work)
    if ended:
        log.info("audit.fire_faults_ended", cell=cell.name, findings=ended)


async def first_kept(cell: CellProtocol) -> datetime:
    """The first fire time of which PostgreSQL has all rows."""
    async with cell.statement() as tx:
        dropped_until = await days.dropped_until(tx, [days.HISTORY])
    return BEFORE_ALL if dropped_until is None else dropped_until + ENDS_BEFORE


async def _is_found(answers: CellAnswers, cell: CellProtocol, key: FindingKey, facts: KnownFacts) -> bool:
    """Whether a fault is found again. One of a job that is gone, or of a dropped day, is not."""
    job, stands_still = facts.jobs.get(key.job_id), key.fault == FireFault.STANDS_STILL
    if job is None or (key.fire_time < facts.kept_from and not stands_still):
        return False
    if stands_still and job.cursor == key.fire_time:
        return job.status == ACTIVE and key.fire_time < facts.now - STILL_AFTER
    wanted = AuditRange(
        max(key.fire_time, facts.kept_from), min(key.fire_time + LONGEST_WALK, facts.now - GRACE), job.tenant_id
    )
    return any(
        found.fault == key.fault and (found.at == key.fire_time or stands_still)
        for judged in await judge_again(answers, cell, [job], wanted)
        for found in judged.verdict.findings
    )
