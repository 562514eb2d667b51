"""Catch-up after an outage: which fires from the cursor to now still run, and which are skipped."""

from datetime import datetime, timedelta

from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules import expected
from horae.domain.schedules.misfire import DEFAULT_CAP, ON_TIME_TOLERANCE_S, OnMisfire
from horae.domain.schedules.verdicts import (
    LAST,
    FireVerdict,
    Schedule,
    Verdict,
    calendar_spans,
    fires,
    skip_verdicts,
)


def catch_up(schedule: Schedule, since: datetime, now: datetime, *, fired: int = 0) -> list[Verdict]:
    """Return verdicts for every expected fire from `since` to `now` (included), oldest first.

    1. Fires up to `ON_TIME_TOLERANCE_S` ago are on time. Earlier fires are missed, and the misfire policy decides.
    2. A range of skipped fires is one verdict, so the list stays short after any outage.
    3. Fires beyond `max_count` get no verdict.
    """
    edge = min(max(since, now - timedelta(seconds=ON_TIME_TOLERANCE_S)), now)
    missed = _missed_verdicts(schedule, since, edge, now)
    fired += sum(isinstance(verdict, FireVerdict) for verdict in missed)
    return _apply_max_count(schedule, missed, fired) + list(
        fires(schedule, edge, now + expected.TIME_RESOLUTION, fired=fired)
    )


def _missed_verdicts(schedule: Schedule, since: datetime, edge: datetime, now: datetime) -> list[Verdict]:
    """Return verdicts for fires before `edge`, which are too late to be on time.

    1. The policy `skip` drops all of them. Otherwise fires that are later than `max_lateness` are dropped.
    2. Of the rest `once` keeps the newest fire, and `all` keeps the newest `cap` fires; older ones are dropped.
    3. The kept fires are due from now on, at the policy's pace.
    """
    misfire = schedule.policies.misfire
    begin = edge
    if misfire.policy is not OnMisfire.SKIP:
        lateness = misfire.max_lateness
        begin = since if lateness is None else min(max(since, now - timedelta(seconds=lateness)), edge)
    reason = SkipReason.MISFIRE if misfire.policy is OnMisfire.SKIP else SkipReason.TOO_LATE
    verdicts = _skip_range(schedule, since, begin, reason)
    if begin == edge:
        return verdicts
    if misfire.policy is OnMisfire.ONCE:
        most, reason = 1, SkipReason.MISFIRE
    else:
        most, reason = misfire.cap or DEFAULT_CAP, SkipReason.OVER_CAP
    start = _start_of_newest(schedule, begin, edge, most)
    verdicts += _skip_range(schedule, begin, start, reason)
    return verdicts + _apply_pace(schedule, list(fires(schedule, start, edge)), now)


def _skip_range(schedule: Schedule, since: datetime, until: datetime, reason: SkipReason) -> list[Verdict]:
    """Return skip verdicts for the fires of a range; fires that a calendar forbids keep the calendar's reason."""
    return [
        skip
        for stretch in calendar_spans(schedule, since, until)
        for skip in skip_verdicts(schedule, stretch.since, stretch.until, stretch.reason or reason)
    ]


def _start_of_newest(schedule: Schedule, since: datetime, until: datetime, most: int) -> datetime:
    """Return from when on the calendars allow at most `most` fires before `until`."""
    start, left = until, most
    for stretch in reversed(list(calendar_spans(schedule, since, until))):
        if stretch.reason is None:
            many = expected.count_between(schedule.trigger, stretch.since, stretch.until)
            if many >= left:
                return expected.start_of_newest(schedule.trigger, stretch.since, stretch.until, left)
            left -= many
        start = stretch.since
    return start


def _apply_pace(schedule: Schedule, verdicts: list[Verdict], now: datetime) -> list[Verdict]:
    """Make the kept fires due from now on, one after the other at the policy's pace."""
    pace, place = timedelta(seconds=schedule.policies.misfire.pace), 0
    latest = LAST - now
    made: list[Verdict] = []
    for verdict in verdicts:
        if isinstance(verdict, FireVerdict):
            made.append(FireVerdict(verdict.fire_time, max(verdict.due_at, now + min(place * pace, latest))))
            place += 1
        else:
            made.append(verdict)
    return made


def _apply_max_count(schedule: Schedule, verdicts: list[Verdict], fired: int) -> list[Verdict]:
    """Drop caught-up fires that exceed `max_count`: they were never expected."""
    most = schedule.policies.max_count
    while most is not None and fired > most and verdicts:
        last = verdicts.pop()
        fired -= isinstance(last, FireVerdict)
    return verdicts
