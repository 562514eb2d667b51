"""After an outage: from the fire a cursor stood at up to now, what is still made up for and what is not."""

from datetime import datetime, timedelta

from horae.domain.outcomes import SkipReason
from horae.domain.schedule import expected
from horae.domain.schedule.misfire import DEFAULT_CAP, ON_TIME, OnMisfire
from horae.domain.schedule.plan import LAST, Fire, Schedule, Verdict, fires, skipped, stretches


def catch_up(schedule: Schedule, since: datetime, now: datetime, *, fired: int = 0) -> list[Verdict]:
    """Verdicts for every expected fire from `since` to `now` (included), oldest first.

    Long ranges that do not run become one verdict each, so the list stays short after any outage.
    """
    edge = min(max(since, now - timedelta(seconds=ON_TIME)), now)
    missed = _missed(schedule, since, edge, now)
    fired += sum(isinstance(verdict, Fire) for verdict in missed)
    return _bounded(schedule, missed, fired) + list(fires(schedule, edge, now + expected.INSTANT, fired=fired))


def _missed(schedule: Schedule, since: datetime, edge: datetime, now: datetime) -> list[Verdict]:
    """Verdicts for fires before `edge`, which are too late to count as on time."""
    misfire = schedule.policies.misfire
    begin = edge
    if misfire.policy is not OnMisfire.SKIP:
        lateness = misfire.max_lateness
        begin = since if lateness is None else min(max(since, now - timedelta(seconds=lateness)), edge)
    reason = SkipReason.MISFIRE if misfire.policy is OnMisfire.SKIP else SkipReason.TOO_LATE
    verdicts = _dropped(schedule, since, begin, reason)
    if begin == edge:
        return verdicts
    if misfire.policy is OnMisfire.ONCE:
        most, reason = 1, SkipReason.MISFIRE
    else:
        most, reason = misfire.cap or DEFAULT_CAP, SkipReason.OVER_CAP
    start = _newest(schedule, begin, edge, most)
    verdicts += _dropped(schedule, begin, start, reason)
    return verdicts + _paced(schedule, list(fires(schedule, start, edge)), now)


def _dropped(schedule: Schedule, since: datetime, until: datetime, reason: SkipReason) -> list[Verdict]:
    """Fires of a range that do not run; those a calendar forbids keep the calendar's reason."""
    return [
        skip
        for stretch in stretches(schedule, since, until)
        for skip in skipped(schedule, stretch.since, stretch.until, stretch.reason or reason)
    ]


def _newest(schedule: Schedule, since: datetime, until: datetime, most: int) -> datetime:
    """From when on the calendars allow at most so many fires before `until`."""
    start, left = until, most
    for stretch in reversed(list(stretches(schedule, since, until))):
        if stretch.reason is None:
            many = expected.counted(schedule.trigger, stretch.since, stretch.until)
            if many >= left:
                return expected.newest(schedule.trigger, stretch.since, stretch.until, left)
            left -= many
        start = stretch.since
    return start


def _paced(schedule: Schedule, verdicts: list[Verdict], now: datetime) -> list[Verdict]:
    """What is made up for is due now, one after the other at the policy's pace."""
    pace, place = timedelta(seconds=schedule.policies.misfire.pace), 0
    latest = LAST - now
    made: list[Verdict] = []
    for verdict in verdicts:
        if isinstance(verdict, Fire):
            made.append(Fire(verdict.fire_time, max(verdict.due_at, now + min(place * pace, latest))))
            place += 1
        else:
            made.append(verdict)
    return made


def _bounded(schedule: Schedule, verdicts: list[Verdict], fired: int) -> list[Verdict]:
    """No more made-up fires than `max_count` leaves; what is beyond it was never expected."""
    most = schedule.policies.max_count
    while most is not None and fired > most and verdicts:
        last = verdicts.pop()
        fired -= isinstance(last, Fire)
    return verdicts
