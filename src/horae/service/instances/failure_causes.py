"""Failure causes of a tenant's dead letters: the groups, samples of one, and what changed since they died."""

from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, public
from horae.domain.instances.dead_letters import DeadLetter
from horae.domain.instances.failure_causes import FailureCause, merge_causes
from horae.domain.jobs.jobs import Job
from horae.domain.limits.holds import Hold
from horae.domain.targets.targets import queue_of, request_line
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_job_or_mark
from horae.service.instances import dead_letters
from horae.service.jobs import jobs
from horae.service.limits import holds
from horae.store.instances import failure_causes, history
from horae.store.jobs import jobs as rows
from horae.store.tx import Tx

MAX_COUNTED: Final = 500_000
"""Open dead letters of a cell, the newest ones, that one list counts."""
MAX_CAUSES: Final = 500
"""Failure causes that one list has: those with most dead letters."""
SAMPLES: Final = 5
MAX_ENDED: Final = 10_000
"""Ended instances of a job that are counted to see how its target answers now."""
RECENT: Final = timedelta(days=1)
"""How far back the answers of a target count at most."""


class CauseList(NamedTuple):
    """The failure causes with most dead letters. `unsorted`: open dead letters whose cause is not known yet.

    `is_complete`: every open dead letter was counted; otherwise the newest ones were.
    """

    causes: list[FailureCause]
    unsorted: int
    is_complete: bool


class SinceDeath(NamedTuple):
    """What changed since the dead letters of a cause died.

    `job_status` and `job_version` are those of the job now; None: it is gone. `ended`: how many instances of the job,
    fired since the newest death, ended in which state. `held`: what is held back at the gates of the job now.
    """

    job_status: str | None
    job_version: int | None
    changed: bool
    ended: dict[str, int]
    held: list[Hold]


class CauseDetail(NamedTuple):
    """A failure cause, its newest dead letters, and what changed since they died."""

    cause: FailureCause
    samples: list[DeadLetter]
    since: SinceDeath


async def listing(ctx: Context, job: str | None = None) -> CauseList:
    """Returns the failure causes of the tenant's open dead letters, those with most first."""
    job_id = None if job is None else (await jobs.find(ctx, job)).id
    found = await ctx.ask_each(lambda tx: failure_causes.listing(tx, ctx.tenant.id, job_id, MAX_COUNTED))
    merged: dict[UUID, FailureCause] = {}
    for one in (cause for here in found for cause in here.causes):
        merged[one.id] = merge_causes(merged[one.id], one) if one.id in merged else one
    top = sorted(merged.values(), key=lambda cause: (-cause.open, cause.id))[:MAX_CAUSES]
    counted = max((sum(cause.open for cause in here.causes) + here.unsorted for here in found), default=0)
    causes = await _described(ctx, top)
    return CauseList(causes, sum(here.unsorted for here in found), counted < MAX_COUNTED)


async def show(ctx: Context, cause_id: UUID) -> CauseDetail:
    """Returns one failure cause with samples. Payloads are decrypted: the caller says who may read them."""
    found = next((one for one in (await listing(ctx)).causes if one.id == cause_id), None)
    if found is None:
        name = public(Prefix.CAUSE, cause_id)
        raise NotFound(f"tenant {ctx.tenant.name!r} has no open dead letter with the failure cause {name}")
    samples = await dead_letters.listing(ctx, cause_id=cause_id, limit=SAMPLES)
    return CauseDetail(found, samples, await _since(ctx, found))


async def _since(ctx: Context, cause: FailureCause) -> SinceDeath:
    job = (await _jobs(ctx, {cause.job_id})).get(cause.job_id)
    if job is None:
        return SinceDeath(None, None, changed=True, ended={}, held=[])
    ended: dict[str, int] = {}
    until = ctx.now()
    since = max(cause.last_at, until - RECENT)

    async def outcomes(tx: Tx) -> dict[str, int]:
        return await history.outcomes(tx, ctx.tenant.id, job.id, since, until, lane=None, most=MAX_ENDED)

    for here in await ctx.ask_each(outcomes):
        for state, many in here.items():
            ended[state] = ended.get(state, 0) + many
    changed = job.version != cause.newest_version
    return SinceDeath(job.status, job.version, changed, ended, await holds.of_job(ctx, job))


async def _described(ctx: Context, causes: list[FailureCause]) -> list[FailureCause]:
    """Returns causes with their messages, and the names and targets of their jobs."""
    said: dict[UUID, str] = {}
    samples = {cause.sample for cause in causes}
    for here in await ctx.ask_each(lambda tx: failure_causes.messages(tx, samples)) if samples else ():
        said |= here
    known = await _jobs(ctx, {cause.job_id for cause in causes})
    return [
        replace(
            cause,
            message=said.get(cause.sample, cause.message),
            job=None if (job := known.get(cause.job_id)) is None else job.name,
            target=None if job is None else _target_of(job),
        )
        for cause in causes
    ]


async def _jobs(ctx: Context, ids: set[UUID]) -> dict[UUID, Job]:
    """Returns jobs with their decrypted definitions. Any cell may have the newest copy of a job."""
    known: dict[UUID, Job] = {}
    for here in await ctx.ask_each(lambda tx: rows.current(tx, ctx.tenant.id, ids)) if ids else ():
        for id_, job in here.items():
            if id_ not in known or known[id_].version < job.version:
                known[id_] = job
    return {id_: await decrypt_job_or_mark(ctx, job) for id_, job in known.items()}


def _target_of(job: Job) -> str | None:
    queue = queue_of(job.definition.target)
    return request_line(job.definition.target) if queue is None else f"queue {queue}"
