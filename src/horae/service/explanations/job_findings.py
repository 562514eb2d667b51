"""Findings about a job: its status, its dates, its last fires, and when it fires next."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import SkipReason
from horae.domain.jobs.jobs import Job, Status
from horae.domain.plans.plans import SHADOW
from horae.service.explanations.findings import Finding, FindingCode, instance_id, utc
from horae.store.instances.history import InstanceRecord

SKIP_REASONS: Final = {
    SkipReason.PAUSED: "the job or the tenant was paused",
    SkipReason.MISFIRE: "its time had passed, and the misfire policy does not catch up",
    SkipReason.TOO_LATE: "it was later than the misfire policy catches up",
    SkipReason.OVER_CAP: "there were more missed fires than the misfire policy catches up",
    SkipReason.OVERLAP: "the fire before it was still running, and the overlap policy skips it",
    SkipReason.CALENDAR: "a calendar of the job excludes that day",
    SkipReason.CALENDAR_UNKNOWN: "a calendar of the job does not know that year",
    SkipReason.REQUESTED: "a person skipped this occurrence",
    SkipReason.DST_GAP: "the clocks jumped over it, and the policy of the job skips it",
    SkipReason.DECLINED: "the receiver did nothing, on purpose",
    SkipReason.REFUSED: "the database refused the row",
    SkipReason.REMOVED: "the job or type was removed",
    SkipReason.EXPIRED: "it was due and not sent within `expires_after`",
}


def status_finding(job: Job) -> Finding | None:
    """Why a job that is not active fires nothing."""
    match job.status:
        case Status.ACTIVE:
            return None
        case Status.PAUSED if job.definition.labels.get(SHADOW) == "true":
            text = f"job {job.name} is a shadow: its fires are computed and compared, and nothing runs"
            return Finding(FindingCode.PAUSED, text, {"shadow": True})
        case Status.PAUSED:
            text = f"job {job.name} is paused; `horae job resume {job.name}` lets it continue"
            return Finding(FindingCode.PAUSED, text, {"shadow": False})
        case Status.COMPLETED:
            return Finding(FindingCode.COMPLETED, f"job {job.name} has had its last fire")
        case Status.REMOVED:
            return Finding(FindingCode.REMOVED, f"job {job.name} was removed")


def dates_finding(job: Job, now: datetime) -> Finding | None:
    """Why a job fires nothing now: it starts later, or has ended."""
    start, end = job.definition.policies.start, job.definition.policies.end
    if start is not None and now < start:
        text = f"job {job.name} does not fire before {utc(start)}"
        return Finding(FindingCode.NOT_STARTED, text, {"start": start})
    if end is not None and end <= now:
        text = f"job {job.name} does not fire from {utc(end)} on"
        return Finding(FindingCode.ENDED, text, {"end": end})
    return None


def trigger_finding(job: Job) -> Finding | None:
    """Why a job has no fires of its own: something else starts its instances."""
    if job.keyed:
        text = f"{job.name} is a type: each business key has its own time; ask `horae why {job.name}/KEY`"
    elif job.rolling:
        text = f"{job.name} is a rolling set: `horae subject coverage {job.name}` shows which subjects are due"
    elif job.recurring or job.single:
        return None
    else:
        text = f"job {job.name} has no trigger: it fires only with `horae job trigger {job.name}`"
    return Finding(FindingCode.NO_SCHEDULE, text)


def skip_finding(job: Job, ended: Sequence[InstanceRecord]) -> Finding | None:
    """Why the last fires left no run: the SKIPPED rows since the last run. `ended` is sorted, newest first."""
    skipped = []
    for past in ended:
        if past.state != State.SKIPPED:
            break
        skipped.append(past)
    if not skipped:
        return None
    last, count = skipped[0], sum(past.range_count or 1 for past in skipped)
    many = "the last fire" if count == 1 else f"at least the last {count} fires"
    newest = utc(last.range_to or last.fire_time)
    text = f"{many} of job {job.name} ran nothing, the newest at {newest}: {skip_reason(last)}"
    reasons = sorted({past.reason for past in skipped if past.reason is not None})
    return Finding(FindingCode.SKIPPED, text, {"count": count, "reasons": reasons, "instance": instance_id(last.id)})


def skip_reason(past: InstanceRecord) -> str:
    """The reason of a SKIPPED row in words; a reason that only a newer release knows as it is."""
    known = {reason.value: text for reason, text in SKIP_REASONS.items()}
    return known.get(past.reason or "", past.reason or "without a reason")


def next_fire_finding(job: Job, now: datetime) -> Finding | None:
    """When an active job fires next, or since when its next fire is overdue."""
    at = job.next_fire_at
    if job.status != Status.ACTIVE or at is None or not job.recurring:
        return None
    facts = {"next_fire_at": at}
    if at <= now:
        text = f"job {job.name} should have fired at {utc(at)}: its node is behind, or was not there"
        return Finding(FindingCode.OVERDUE, text, facts)
    return Finding(FindingCode.NEXT_FIRE, f"job {job.name} fires next at {utc(at)}", facts)
