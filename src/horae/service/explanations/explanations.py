"""Explains why a job, one of its fires, a task, a subject or an instance has or has not run. Nothing is written."""

from datetime import datetime
from typing import Any, Final

from horae.domain.errors import Invalid, NotFound
from horae.domain.explanations.findings import (
    DecidingRow,
    ExplainedKind,
    Explanation,
    Finding,
    FindingCode,
    RowKind,
)
from horae.domain.ids import Prefix, private, public, shard_in
from horae.domain.instances.lifecycle import FINAL, LIVE, State
from horae.domain.instances.searches import InstanceFilter
from horae.domain.jobs.jobs import Job
from horae.domain.tasks.tasks import Decision
from horae.service.context import Context
from horae.service.explanations import job_findings
from horae.service.explanations.cell_findings import find_of_place
from horae.service.explanations.fire_findings import find_of_fire, name_calendars
from horae.service.explanations.instance_findings import find_of_instance
from horae.service.explanations.subject_findings import find_of_subject, find_subject
from horae.service.instances import searches, tiers
from horae.service.jobs import jobs
from horae.service.schedules.schedules import schedule_of
from horae.service.tasks import tasks
from horae.store.instances.history import Bounds, InstanceRecord

NO_TIME: Final = "a time chooses a fire of a job: a task, a subject and an instance have only one"
MAX_LIVE: Final = 3
"""Live instances of a job that are explained."""
MAX_LOOKED_AT: Final = 1_200
"""Ended instances among which live ones are searched: one that waits for longer than so many fires is not found."""
MAX_ENDED: Final = 20
"""Ended instances of a job that are read, to see how its last fires ended."""


async def explain(ctx: Context, ref: str, at: str | None = None) -> Explanation:
    """Explains a job by name or id, its fire `at` a time, the task or subject `JOB/KEY`, or an instance by id."""
    name, slash, key = ref.partition("/")
    if ref.startswith(f"{Prefix.INSTANCE}_"):
        _check_without_time(at)
        return await explain_instance(ctx, ref)
    if slash:
        _check_without_time(at)
        job = await jobs.find_by_ref(ctx, name, unreadable=True)
        return await (_explain_subject(ctx, job, key) if job.rolling else _explain_task(ctx, job, key))
    return await explain_job(ctx, ref, at)


async def explain_job(ctx: Context, ref: str, at: str | None = None) -> Explanation:
    """Explains a job, or with `at` one of its fires.

    A job: its status and dates, its place, its live instances, how its last fires ended, and the next one.
    """
    job = await jobs.find_by_ref(ctx, ref, removed=True, unreadable=True)
    if at is not None:
        return await _explain_fire(ctx, job, at)
    now = ctx.now(job.shard)
    found = await _find_of_job(ctx, job)
    if not job.spread:
        for past in (await searches.of_job(ctx, job, _filter(LIVE), bounds=Bounds(MAX_LIVE, MAX_LOOKED_AT))).found:
            found += await find_of_instance(ctx, job, await searches.find(ctx, past.id))
        found += await _find_of_last_fires(ctx, job)
    found.append(job_findings.next_fire_finding(job, now))
    return Explanation(kind=ExplainedKind.JOB, subject=public(Prefix.JOB, job.id), at=now, findings=_in_order(found))


async def explain_task(ctx: Context, ref: str, key: str) -> Explanation:
    """Explains the task of a business key."""
    return await _explain_task(ctx, await jobs.find_by_ref(ctx, ref, unreadable=True), key)


async def explain_subject(ctx: Context, ref: str, key: str) -> Explanation:
    """Explains a subject of a rolling set."""
    return await _explain_subject(ctx, await jobs.find_by_ref(ctx, ref, unreadable=True), key)


async def explain_instance(ctx: Context, ref: str) -> Explanation:
    """Explains an instance, live, ended or archived."""
    past = (await tiers.find(ctx, private(Prefix.INSTANCE, ref))).found
    shard = shard_in(past.id)
    job = await jobs.find_by_ref(ctx, public(Prefix.JOB, past.job_id), removed=True, unreadable=True)
    found: list[Finding | None] = []
    if past.state in LIVE:
        found += await _find_of_job(ctx, job, place=shard, of_task=True)
    found += await find_of_instance(ctx, job, past)
    return Explanation(
        kind=ExplainedKind.INSTANCE,
        subject=public(Prefix.INSTANCE, past.id),
        at=ctx.now(shard),
        findings=_in_order(found),
    )


async def _explain_fire(ctx: Context, job: Job, text: str) -> Explanation:
    """Explains one fire. Why nothing fires now is added where the fire has no end yet."""
    fire_time, found = await find_of_fire(ctx, job, text)
    now, all_found = ctx.now(job.shard), list[Finding | None](found)
    if not any(one.facts.get("state") in FINAL or one.code in SETTLED for one in found):
        all_found += [job_findings.status_finding(job), job_findings.next_fire_finding(job, now)]
        all_found += await find_of_place(ctx, job.shard)
    return Explanation(
        kind=ExplainedKind.FIRE,
        subject=f"{job.name} {fire_time.isoformat()}",
        at=now,
        findings=_in_order(all_found),
        fire_time=fire_time,
    )


async def _explain_task(ctx: Context, job: Job, key: str) -> Explanation:
    """Explains a task: its type, the last decision about it, and its live or last instance."""
    detail = await tasks.show(ctx, job.name, key)
    assert detail.known.ledger is not None
    last = detail.known.ledger.instance_id if detail.known.live is None else detail.known.live.id
    found = await _find_of_job(ctx, job, place=shard_in(last), of_task=True)
    name = f"{job.name}/{key}"
    if detail.decisions:
        found.append(_decision_finding(name, detail.decisions[-1]))
    past = await _last_instance(ctx, last)
    if past is not None:
        found += await find_of_instance(ctx, job, past)
    return Explanation(kind=ExplainedKind.TASK, subject=name, at=ctx.now(shard_in(last)), findings=_in_order(found))


async def _explain_subject(ctx: Context, job: Job, key: str) -> Explanation:
    """Explains a subject: the refresh under way, the last ones, when it is due again, and its last instance."""
    shard, subject = await find_subject(ctx, job, key)
    now = ctx.now(shard)
    found = await _find_of_job(ctx, job, place=shard, of_task=True)
    found += find_of_subject(job, subject, now)
    last = (await searches.of_job(ctx, job, InstanceFilter(business_key=key), bounds=Bounds(1))).found
    if last:
        found += await find_of_instance(ctx, job, await searches.find(ctx, last[0].id))
    return Explanation(kind=ExplainedKind.SUBJECT, subject=f"{job.name}/{key}", at=now, findings=_in_order(found))


async def _last_instance(ctx: Context, id_: Any) -> InstanceRecord | None:
    """Returns the last instance of a key; None where its row is gone, or it was cancelled before there was one."""
    try:
        return (await tiers.find(ctx, id_)).found
    except NotFound:
        return None


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
    skipped = job_findings.last_skips_finding(ended)
    if skipped is not None:
        return [name_calendars(skipped, ended[0], await schedule_of(ctx, job))]
    if not ended:
        return []
    return [*await find_of_instance(ctx, job, await searches.find(ctx, ended[0].id))]


def _decision_finding(name: str, note: dict[str, Any]) -> Finding:
    """The last decision about a business key, as its ledger has it."""
    facts = {"decision": note["decision"], "on": _time(note["on"]), "by": note["by"], "to": _time(note.get("at"))}
    code = FindingCode.DECIDED
    if note["decision"] == Decision.IGNORED and note.get("reason"):
        facts |= {"reason": note["reason"]}
        code = FindingCode.REQUEST_IGNORED
    return Finding(code, facts, (DecidingRow(RowKind.TASK, name),))


def _time(said: object) -> datetime | None:
    return datetime.fromisoformat(said) if isinstance(said, str) else None


def _check_without_time(at: str | None) -> None:
    if at is not None:
        raise Invalid(NO_TIME)


def _filter(states: frozenset[State]) -> InstanceFilter:
    return InstanceFilter(states=tuple(sorted(states)))


SETTLED: Final = frozenset(
    {FindingCode.BEFORE_CREATION, FindingCode.NO_LONGER_KEPT, FindingCode.MISSING, FindingCode.TO_BE_SKIPPED}
)
"""Findings about a fire that nothing which happens now can change."""
LAST_CODES: Final = (FindingCode.LEASED, FindingCode.NEXT_FIRE)
"""Findings that keep nothing from running: they come last."""


def _in_order(found: list[Finding | None]) -> list[Finding]:
    """All findings: what stops the subject first, then how things are."""
    there = [one for one in found if one is not None]
    return sorted(there, key=lambda one: one.code in LAST_CODES)
