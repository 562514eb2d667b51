"""The verdict on a job that did nothing but fire on time by its schedule, from lists of times instead of rows.

Most jobs are like that. Their rows need not be judged one by one: the times that should exist and the times of the rows
are compared as two lists. A job with anything else in the range is judged row by row (`comparison`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from horae.domain.fire_audit.comparison import GRACE, judge_cursor
from horae.domain.fire_audit.findings import FireCounts, JobVerdict
from horae.domain.fire_audit.histories import ALWAYS, JobHistory, Pause
from horae.domain.fire_audit.rules import TIME_RESOLUTION, Rule


class FireTimes(NamedTuple):
    """The fire times of the rows of a job with one version and one state.

    `is_plain` is False if one of them was skipped, covers a range, is of a backfill, was due before its time or was
    not made by the schedule.
    """

    version: int
    state: str
    is_plain: bool
    times: Sequence[datetime]


def can_be_plain(job: JobHistory, since: datetime) -> bool:
    """Whether nothing is known that makes a fire of this job from `since` on anything but plain."""
    return not (
        job.backfills
        or _reaches(job.pauses, since)
        or _reaches(job.tenant_pauses, since)
        or any(not _is_plain_rule(rule) for rule in job.rules)
    )


def judge_plain(job: JobHistory, rows: Sequence[FireTimes], since: datetime, until: datetime) -> JobVerdict | None:
    """Return the verdict on a job; None if it has to be judged row by row.

    1. Each version owes the fires while it was in force, and none after the job was removed.
    2. The rows of a version have these times, in any state, except for the last ones: the cursor may be before them.
    """
    until = min(until, job.read_at - GRACE)
    if not all(one.is_plain for one in rows):
        return None
    states: Counter[str] = Counter()
    found: dict[int, list[datetime]] = {rule.version: [] for rule in job.rules}
    for one in rows:
        times = [at for at in one.times if since <= at < until]
        if one.version not in found:
            return None
        found[one.version] += times
        states[one.state] += len(times)
    undecided = 0
    for rule in job.rules:
        expected, times = _fires_in_force(job, rule, since, until), sorted(found[rule.version])
        if expected != times:
            ahead = expected[len(times) :]
            if expected[: len(times)] != times or not _are_ahead(job, ahead):
                return None
            undecided += len(ahead)
    return JobVerdict(FireCounts(+states, Counter(), 0, undecided), judge_cursor(job, undecided))


def _fires_in_force(job: JobHistory, rule: Rule, since: datetime, until: datetime) -> list[datetime]:
    end = min(rule.until or ALWAYS, job.removed_at or ALWAYS)
    if end < since:
        return []
    begin = max(rule.since + TIME_RESOLUTION, since)
    return rule.times(begin, until if end is ALWAYS else min(until, end + TIME_RESOLUTION))


def _are_ahead(job: JobHistory, fires: Sequence[datetime]) -> bool:
    return job.cursor is not None and job.cursor <= fires[0]


def _reaches(pauses: Iterable[Pause], since: datetime) -> bool:
    return any(pause.until is None or pause.until >= since for pause in pauses)


def _is_plain_rule(rule: Rule) -> bool:
    policies = rule.policies
    return not (
        rule.overrides
        or policies.calendars
        or policies.spread.window
        or policies.spread.jitter
        or policies.max_count is not None
        or rule.has_skipped_gaps
    )
