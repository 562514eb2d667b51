"""Explains why a job, a task or an instance has not run. Nothing is written."""

from typing import Final

from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, private, public, shard_in
from horae.domain.instances.lifecycle import FINAL, LIVE, State
from horae.domain.instances.searches import InstanceFilter
from horae.domain.jobs.jobs import Job
from horae.service.context import Context
from horae.service.explanations import job_findings
from horae.service.explanations.cell_findings import find_of_place
from horae.service.explanations.findings import Explanation, Finding, FindingCode, SubjectKind, instance_id
from horae.service.explanations.instance_findings import find_of_instance
from horae.service.instances import searches
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.store.instances.history import Bounds, InstanceRecord

MAX_LIVE: Final = 3
"""Live instances of a job that are explained."""
MAX_ENDED: Final = 20
"""Ended instances of a job that are read, to see how its last fires ended."""


async def explain(ctx: Context, ref: str) -> Explanation:
    """Explains the job of a name or id, the task of `JOB/KEY`, or the instance of an id."""
    try:
        past = await searches.find(ctx, private(Prefix.INSTANCE, ref))
    except NotFound:
        if ref.startswith(f"{Prefix.INSTANCE}_"):
            raise
    else:
        return await _explain_instance(ctx, past)
    name, slash, key = ref.partition("/")
    return await (_explain_task(ctx, name, key) if slash else _explain_job(ctx, name))


async def _explain_job(ctx: Context, ref: str) -> Explanation:
    """Explains a job: its status and dates, its place, its live instances, how its last fires ended, the next one."""
    job = await jobs.find_by_ref(ctx, ref, removed=True, unreadable=True)
    now = ctx.now(job.shard)
    found = await _find_of_job(ctx, job)
    if not job.spread:
        for past in (await searches.of_job(ctx, job, _filter(LIVE), bounds=Bounds(MAX_LIVE))).found:
            found += await find_of_instance(ctx, job, await searches.find(ctx, past.id))
        found += await _find_of_last_fires(ctx, job)
    found.append(job_findings.next_fire_finding(job, now))
    return Explanation(SubjectKind.JOB, public(Prefix.JOB, job.id), now, _in_order(found))


async def _explain_task(ctx: Context, name: str, key: str) -> Explanation:
    """Explains a task: its type, the last decision about it, and its live or last instance."""
    detail = await tasks.show(ctx, name, key)
    job = await jobs.find_by_ref(ctx, name, unreadable=True)
    assert detail.known.ledger is not None
    last = detail.known.ledger.instance_id if detail.known.live is None else detail.known.live.id
    found = await _find_of_job(ctx, job, place=shard_in(last), of_task=True)
    if detail.decisions:
        found.append(_decision_finding(detail.decisions[-1]))
    found += await find_of_instance(ctx, job, await searches.find(ctx, last))
    return Explanation(SubjectKind.TASK, f"{job.name}/{key}", ctx.now(shard_in(last)), _in_order(found))


async def _explain_instance(ctx: Context, past: InstanceRecord) -> Explanation:
    shard = shard_in(past.id)
    job = await jobs.find_by_ref(ctx, public(Prefix.JOB, past.job_id), removed=True, unreadable=True)
    found: list[Finding | None] = []
    if past.state in LIVE:
        found += await _find_of_job(ctx, job, place=shard, of_task=True)
    found += await find_of_instance(ctx, job, past)
    return Explanation(SubjectKind.INSTANCE, instance_id(past.id), ctx.now(shard), _in_order(found))


async def _find_of_job(
    ctx: Context, job: Job, *, place: int | None = None, of_task: bool = False
) -> list[Finding | None]:
    """What is said of a job and of the place of its rows. For `of_task` neither its dates nor its trigger matter."""
    found = [job_findings.status_finding(job)]
    if not of_task:
        found += [job_findings.dates_finding(job, ctx.now(job.shard)), job_findings.trigger_finding(job)]
    return [*found, *await find_of_place(ctx, job.shard if place is None else place)]


async def _find_of_last_fires(ctx: Context, job: Job) -> list[Finding | None]:
    """How the last fires of a job ended: skipped, or in a dead letter, or well."""
    ended = (await searches.of_job(ctx, job, _filter(FINAL), bounds=Bounds(MAX_ENDED))).found
    skipped = job_findings.skip_finding(job, ended)
    if skipped is not None or not ended:
        return [skipped]
    return [*await find_of_instance(ctx, job, await searches.find(ctx, ended[0].id))]


def _decision_finding(note: dict[str, object]) -> Finding:
    """The last decision about a business key, as its ledger has it."""
    because = f" because {note['reason']}" if note.get("reason") else ""
    to = f" for {note['at']}" if note.get("at") else ""
    text = f"the last request about it was {note['decision']}{to}{because}, on {note['on']}, by {note['by']}"
    return Finding(FindingCode.DECIDED, text, dict(note))


def _filter(states: frozenset[State]) -> InstanceFilter:
    return InstanceFilter(states=tuple(sorted(states)))


LAST_CODES: Final = (FindingCode.LEASED, FindingCode.NEXT_FIRE)
"""Findings that keep nothing from running: they come last."""


def _in_order(found: list[Finding | None]) -> list[Finding]:
    """All findings: what stops the subject first, then how things are."""
    there = [one for one in found if one is not None]
    return sorted(there, key=lambda one: one.code in LAST_CODES)
