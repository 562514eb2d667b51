"""The worst jobs of a tenant now: those with failed runs, open dead letters and overdue instances."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.instances.lifecycle import State
from horae.domain.instances.recent_runs import RecentRun
from horae.domain.jobs.jobs import Job, Status
from horae.service.context import Context
from horae.service.instances.searches import shards_of_tenant
from horae.service.jobs import recent_runs
from horae.store.jobs import jobs as rows
from horae.store.jobs import problems
from horae.store.jobs.problems import DeadCount, OverdueCount
from horae.store.tx import Tx

MAX_DEAD: Final = 20_000
"""Open dead letters of a cell, the newest ones, that one request reads."""
MAX_OVERDUE: Final = 2_000
"""Waiting instances of each class and queue of a cell, the oldest ones, that one request reads."""
OVERDUE_AFTER: Final = timedelta(seconds=60)
"""An instance that waits for longer than this is overdue."""
MOST_PROBLEMS: Final = 200
"""Jobs that are described at most: those with the most dead letters and overdue instances."""


@dataclass(slots=True)
class ProblemJob:
    """What is wrong with one job. `is_failing`: its last run that was not skipped or cancelled died."""

    job_id: UUID
    job: Job | None = None
    dead: int = 0
    dead_last_hour: int = 0
    last_dead_at: datetime | None = None
    overdue: int = 0
    retries: int = 0
    overdue_since: datetime | None = None
    runs: list[RecentRun] = field(default_factory=list)

    @property
    def is_failing(self) -> bool:
        """Whether its last run that succeeded or died has died."""
        return next((run.state == State.DEAD for run in self.runs if run.state in {State.DEAD, State.SUCCESS}), False)

    @property
    def rank(self) -> tuple[bool, int, int, int]:
        """The worst job has the greatest rank: failing ones first, then by what is new, waits and is open."""
        return (self.is_failing, self.dead_last_hour, self.overdue, self.dead)


class ProblemList(NamedTuple):
    """The worst jobs first. `is_complete`: every open dead letter and overdue instance was counted."""

    found: list[ProblemJob]
    is_complete: bool


class _CellAnswer(NamedTuple):
    dead: list[DeadCount]
    overdue: list[OverdueCount]


async def listing(ctx: Context, owner: str | None = None) -> ProblemList:
    """Returns the tenant's jobs that have open dead letters or overdue instances, the worst first."""
    shards = await shards_of_tenant(ctx)

    async def ask(tx: Tx) -> _CellAnswer:
        before = tx.now - OVERDUE_AFTER
        return _CellAnswer(
            await problems.dead(tx, ctx.tenant.id, MAX_DEAD),
            await problems.overdue(tx, ctx.tenant.id, shards, before, MAX_OVERDUE),
        )

    answers = await ctx.ask_each(ask)
    counted = _merge(answers)
    top = sorted(counted, key=lambda one: (one.dead_last_hour + one.overdue, one.dead), reverse=True)[:MOST_PROBLEMS]
    described = [one for one in await _describe(ctx, top) if owner is None or _owner_of(one) == owner]
    is_complete = len(counted) <= MOST_PROBLEMS and all(_is_whole(answer) for answer in answers)
    return ProblemList(sorted(described, key=lambda one: one.rank, reverse=True), is_complete)


def _merge(answers: Iterable[_CellAnswer]) -> list[ProblemJob]:
    """Returns the counts of each job over all cells."""
    found: dict[UUID, ProblemJob] = {}
    for answer in answers:
        for dead in answer.dead:
            one = found.setdefault(dead.job_id, ProblemJob(dead.job_id))
            one.dead += dead.open
            one.dead_last_hour += dead.last_hour
            one.last_dead_at = max(dead.last_at, one.last_dead_at or dead.last_at)
        for late in answer.overdue:
            one = found.setdefault(late.job_id, ProblemJob(late.job_id))
            one.overdue += late.overdue
            one.retries += late.retries
            one.overdue_since = min(late.since, one.overdue_since or late.since)
    return list(found.values())


def _is_whole(answer: _CellAnswer) -> bool:
    read = sum(dead.open for dead in answer.dead)
    return read < MAX_DEAD and sum(late.overdue for late in answer.overdue) < MAX_OVERDUE


async def _describe(ctx: Context, found: list[ProblemJob]) -> list[ProblemJob]:
    """Adds the jobs and their newest runs. Removed jobs are left out."""
    ids = {one.job_id for one in found}
    known: dict[UUID, Job] = {}
    for answer in await ctx.ask_each(lambda tx: rows.current(tx, ctx.tenant.id, ids)):
        known |= {id_: job for id_, job in answer.items() if job.status != Status.REMOVED}
    runs = await recent_runs.of_jobs(ctx, known.keys(), recent_runs.MOST_RECENT)
    for one in found:
        one.job, one.runs = known.get(one.job_id), runs.get(one.job_id, [])
    return [one for one in found if one.job is not None]


def _owner_of(one: ProblemJob) -> str | None:
    return None if one.job is None else one.job.definition.owner
