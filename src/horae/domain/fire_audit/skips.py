"""Whether the reason of a skipped fire holds, by what is known of its job."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from horae.domain.fire_audit.histories import ALWAYS, JobHistory, Pause, RecordedFire
from horae.domain.fire_audit.rules import Rule
from horae.domain.instances.outcomes import SkipReason

ON_TIME_S: Final = 60.0
"""Seconds up to which the documentation promises that a late fire still runs."""
MEASURED_LATENESS = timedelta(seconds=1)
"""The lateness of a skip is judged with this tolerance: it was decided a moment before it was written."""
SEEN_WITHIN = timedelta(seconds=60)
"""How long after the pause of a tenant a node may still fire: it learns of it by looking."""


def holds(job: JobHistory, rule: Rule, row: RecordedFire) -> bool:
    """Whether the reason of a skipped row can be true."""
    judge = JUDGES.get(row.reason or "")
    return judge is not None and judge(job, rule, row)


def is_paused(pauses: tuple[Pause, ...], first: datetime, last: datetime, written: datetime) -> bool:
    """Whether the fires from `first` to `last`, skipped at `written`, lie in a pause or were owed when it began."""
    return any(
        pause.since <= written
        and first <= (pause.until or ALWAYS)
        and (last >= pause.since - SEEN_WITHIN or (pause.stood is not None and pause.stood <= first))
        for pause in pauses
    )


def _late_by(row: RecordedFire) -> timedelta:
    return (row.ended_at or ALWAYS) - (row.range_to or row.fire_time) + MEASURED_LATENESS


def _misfire(_job: JobHistory, rule: Rule, row: RecordedFire) -> bool:
    return rule.policies.misfire.policy != "all" and _late_by(row) >= timedelta(seconds=ON_TIME_S)


def _over_cap(_job: JobHistory, rule: Rule, row: RecordedFire) -> bool:
    return rule.policies.misfire.policy == "all" and _late_by(row) >= timedelta(seconds=ON_TIME_S)


def _too_late(_job: JobHistory, rule: Rule, row: RecordedFire) -> bool:
    most = rule.policies.misfire.max_lateness
    return most is not None and _late_by(row) >= timedelta(seconds=most)


def _overlap(_job: JobHistory, rule: Rule, _row: RecordedFire) -> bool:
    return rule.policies.overlap != "allow"


def _paused(job: JobHistory, _rule: Rule, row: RecordedFire) -> bool:
    pauses = (*job.pauses, *job.tenant_pauses)
    return is_paused(pauses, row.fire_time, row.range_to or row.fire_time, row.ended_at or ALWAYS)


def _removed(job: JobHistory, _rule: Rule, row: RecordedFire) -> bool:
    return job.removed_at is not None and row.ended_at is not None and job.removed_at <= row.ended_at


def _closed(job: JobHistory, rule: Rule, row: RecordedFire) -> bool:
    if not rule.policies.calendars:
        return False
    if rule.calendars_changed_after(row.ended_at or ALWAYS, job.calendars):
        return True  # what the calendar said then is not known
    ends = (row.fire_time, row.range_to or row.fire_time)
    return all(rule.calendar_skip(at, job.calendars) == row.reason for at in ends)


def _requested(_job: JobHistory, rule: Rule, row: RecordedFire) -> bool:
    return rule.is_skipped_by_request(row.fire_time)


def _clock_change(_job: JobHistory, rule: Rule, row: RecordedFire) -> bool:
    found = rule.fires(row.fire_time, row.fire_time + timedelta(seconds=1))
    return any(at == row.fire_time and not exists for at, exists in found)


def _cannot_be_judged(_job: JobHistory, _rule: Rule, _row: RecordedFire) -> bool:
    """It depends on an answer, a waiting time, the load or the database, of which the row is the only witness."""
    return True


JUDGES: Final[Mapping[str, Callable[[JobHistory, Rule, RecordedFire], bool]]] = {
    SkipReason.PAUSED: _paused,
    SkipReason.MISFIRE: _misfire,
    SkipReason.TOO_LATE: _too_late,
    SkipReason.OVER_CAP: _over_cap,
    SkipReason.OVERLAP: _overlap,
    SkipReason.CALENDAR: _closed,
    SkipReason.CALENDAR_UNKNOWN: _closed,
    SkipReason.REQUESTED: _requested,
    SkipReason.DST_GAP: _clock_change,
    SkipReason.REMOVED: _removed,
    SkipReason.DECLINED: _cannot_be_judged,
    SkipReason.REFUSED: _cannot_be_judged,
    SkipReason.EXPIRED: _cannot_be_judged,
    SkipReason.PEAK: _cannot_be_judged,
}
"""How each reason is judged; a test walks the reasons."""
