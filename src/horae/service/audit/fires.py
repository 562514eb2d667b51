"""Audits the fires of all jobs that recur: each that should exist has one verdict, and each row is one of them.

Pages of jobs are read cell by cell while everything goes on. A job with a finding is read a second time, and only what
is found again is reported: between two statements of one look it may have been changed.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from horae.archive.targets import ArchiveTarget
from horae.domain.fire_audit.comparison import altered, judge, unreadable
from horae.domain.fire_audit.findings import FireCounts, JobVerdict
from horae.domain.fire_audit.histories import JobHistory
from horae.domain.fire_audit.plain import can_be_plain, judge_plain
from horae.domain.fire_audit.rules import UNREADABLE
from horae.runtime.turns import LoopTurns
from horae.service.audit.archived_fires import NOTHING_ARCHIVED, ArchivedRange, read_archive
from horae.service.audit.fire_facts import (
    CellAnswers,
    read_fire_times,
    read_histories,
    read_rows,
)
from horae.store.audit import fires
from horae.store.audit.fires import BEGINNING, JobRow
from horae.store.protocol import CellProtocol

PAGE: Final = 500
"""Jobs per page."""
ROWS_OF_JOBS: Final = 50
"""Jobs whose rows one statement reads. The rows of more jobs would stop the event loop while they are converted."""


class AuditRange(NamedTuple):
    """Which fires are audited: from `since` to `until` (excluded); of one tenant, or of all."""

    since: datetime
    until: datetime
    tenant_id: UUID | None = None


class AuditedJob(NamedTuple):
    """The verdict on one job."""

    job: JobRow
    verdict: JobVerdict


async def audit_fires(
    cells: Sequence[CellProtocol], wanted: AuditRange, target: ArchiveTarget | None = None
) -> AsyncIterator[AuditedJob]:
    """Yield the verdict on every job that recurs. The cells must answer, and all tenants be visible.

    1. Read the days that PostgreSQL has dropped from the archive `target`, and compare those that it still has.
    2. For each page of jobs of a cell, read what decides their fires, then their rows in every cell.
    3. Judge each job. Those with a finding are read again when the cell is done.
    """
    answers = CellAnswers(cells)
    archived = await read_archive(cells, target, *wanted)
    for cell in cells:
        after, doubtful = BEGINNING, list[JobRow]()
        while page := await read_page(cell, after, PAGE, wanted.tenant_id):
            after = (page[-1].shard, page[-1].id)
            for one in await judge_jobs(answers, cell, page, wanted, archived):
                if one.verdict.findings:
                    doubtful.append(one.job)
                else:
                    yield one
        for first in range(0, len(doubtful), PAGE):
            for one in await judge_again(answers, cell, doubtful[first : first + PAGE], wanted, archived):
                yield one


def sum_up(counts: Iterable[FireCounts]) -> FireCounts:
    """Add up the counts of many jobs."""
    total = FireCounts(Counter(), Counter())
    for one in counts:
        total.states.update(one.states)
        total.skipped.update(one.skipped)
        total = total._replace(missing=total.missing + one.missing, undecided=total.undecided + one.undecided)
    return total


async def read_page(
    cell: CellProtocol, after: tuple[int, UUID], limit: int, tenant_id: UUID | None = None
) -> list[JobRow]:
    """The next jobs of a cell that recur."""
    async with cell.statement() as tx:
        return await fires.jobs(tx, after, tenant_id, limit)


async def judge_again(
    answers: CellAnswers,
    cell: CellProtocol,
    doubtful: Sequence[JobRow],
    wanted: AuditRange,
    archived: ArchivedRange = NOTHING_ARCHIVED,
) -> list[AuditedJob]:
    """Judge jobs by what is stored now: the findings of this second look are the ones that count."""
    async with cell.statement() as tx:
        page = await fires.jobs_at(tx, [(job.shard, job.id) for job in doubtful])
    return await judge_jobs(answers, cell, page, wanted, archived)


async def judge_jobs(
    answers: CellAnswers,
    cell: CellProtocol,
    page: Sequence[JobRow],
    wanted: AuditRange,
    archived: ArchivedRange = NOTHING_ARCHIVED,
) -> list[AuditedJob]:
    """Judge a page of jobs of one cell.

    1. Most jobs have fired by their schedule and nothing else: lists of their fire times are enough.
    2. The rows of all other jobs are read and judged one by one. So are all rows if some are in the archive.
    3. A job whose archived rows were changed has a finding that says so.
    """
    turns, (since, until, _) = LoopTurns(), wanted
    histories = await read_histories(answers, cell, page, since, until)
    plain = [job.id for job in histories if job.rules and not archived.cold and can_be_plain(job, since)]
    times, verdicts = await read_fire_times(answers, plain, since, until), dict[UUID, JobVerdict]()
    known = set(plain)
    for job in histories:
        await turns.yield_if_long()
        if job.id in known:
            found = _judged_or_marked(job, partial(judge_plain, job, times.get(job.id, ()), since, until))
            if found is not None:
                verdicts[job.id] = found
    others = [job for job in histories if job.id not in verdicts]
    for first in range(0, len(others), ROWS_OF_JOBS):
        part = others[first : first + ROWS_OF_JOBS]
        rows = await read_rows(answers, [job.id for job in part], since, until)
        for job in part:
            await turns.yield_if_long()
            own = [*rows.get(job.id, ()), *archived.rows(job.id, since, until)]
            verdict = _judged_or_marked(job, partial(judge, job, own, since, until))
            verdicts[job.id] = verdict or unreadable(job, "it has no verdict")
    for job in histories:
        if job.id in archived.altered:
            verdicts[job.id].findings.append(altered(job, *archived.altered[job.id]))
    return [AuditedJob(row, verdicts[row.id]) for row in page]


def _judged_or_marked(job: JobHistory, look: Callable[[], JobVerdict | None]) -> JobVerdict | None:
    """The verdict on a job. One whose schedule cannot be computed here is a finding, and stops no other."""
    if not job.rules:
        return unreadable(job, "no version of it can be read by this release")
    try:
        return look()
    except UNREADABLE as error:
        return unreadable(job, str(error))
