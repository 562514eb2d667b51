"""Findings about a subject of a rolling set: when it was refreshed last, and when it is due again."""

from datetime import datetime
from typing import Any

from horae.domain.errors import Conflict, NotFound
from horae.domain.explanations.findings import DecidingRow, Finding, FindingCode, RowKind
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import Job
from horae.domain.rolling.rolling import Subject, check_subject
from horae.domain.schedules.triggers import RollingTrigger
from horae.service.context import Context
from horae.service.tenants.places import shards_of_keys
from horae.store.rolling import subjects


async def find_subject(ctx: Context, job: Job, key: str) -> tuple[int, Subject]:
    """Returns the shard and the row of a subject."""
    if not job.rolling:
        raise Conflict(f"job {job.name!r} has no subjects: its trigger is not rolling")
    check_subject(key)
    shard = (await shards_of_keys(ctx, job, [key]))[key]
    async with ctx.store.statement(shard) as tx:
        # The key itself is the first one that begins with it.
        found = await subjects.page(tx, ctx.tenant.id, job.id, [shard], "", 1, key)
    if not found or found[0].key != key:
        raise NotFound(f"job {job.name!r} has no such subject")
    return shard, found[0]


def find_of_subject(job: Job, subject: Subject, now: datetime) -> list[Finding]:
    """Returns what is known of a subject: the refresh under way, the last ones, and when it is due again."""
    trigger = job.definition.trigger
    assert isinstance(trigger, RollingTrigger)
    found = []
    if subject.last_success_at is not None:
        found.append(_finding(FindingCode.SUBJECT_REFRESHED, job, subject, last_success_at=subject.last_success_at))
    else:
        found.append(_finding(FindingCode.SUBJECT_NEVER_REFRESHED, job, subject, added_at=subject.added_at))
    if subject.instance_id is not None:
        instance = public(Prefix.INSTANCE, subject.instance_id)
        facts = {"instance": instance, "started_at": subject.started_at or subject.added_at}
        return [_finding(FindingCode.SUBJECT_OCCUPIED, job, subject, **facts), *found]
    ended, succeeded = subject.finished_at, subject.last_success_at
    if ended is not None and (succeeded is None or succeeded < ended):
        found.insert(0, _finding(FindingCode.SUBJECT_FAILED, job, subject, finished_at=ended))
    due_at = subject.added_at if ended is None else trigger.due_again(ended)
    code = FindingCode.SUBJECT_DUE if due_at <= now else FindingCode.SUBJECT_WAITS
    window = (now - trigger.refreshed_before(now)).total_seconds()  # a month is as long as it is now
    return [_finding(code, job, subject, due_at=due_at, window_s=window), *found]


def _finding(code: FindingCode, job: Job, subject: Subject, **facts: Any) -> Finding:
    row = DecidingRow(RowKind.SUBJECT, f"{job.name}/{subject.key}")
    return Finding(code, {"job": job.name, "key": subject.key, **facts}, (row,))
