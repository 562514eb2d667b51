"""The fires that a job should have a verdict for in a range, from its rules, pauses and end."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from horae.domain.fire_audit.histories import ALWAYS, JobHistory, Pause
from horae.domain.fire_audit.rules import TIME_RESOLUTION, Rule
from horae.domain.instances.outcomes import SkipReason

OLDEST_ROW = timedelta(days=1)
"""A fire that was decided longer than this before the range is not judged: its row lies in an earlier day."""


class ExpectedFire(NamedTuple):
    """A fire that should exist. `skip` is why it must not run; None: it runs.

    `is_certain` is False where its absence is no fault: at the edge of a change it may belong to either version.
    `days_known` is False where a calendar was replaced since: what it said of that day is not known.
    """

    at: datetime
    due: datetime
    version: int
    skip: SkipReason | None = None
    is_certain: bool = True
    days_known: bool = True


def expected_fires(job: JobHistory, since: datetime, until: datetime) -> list[ExpectedFire]:
    """Return the expected fires from `since` to `until` (excluded), in order.

    1. A version owes the fires that are decided while it is in force, and no others.
    2. While a job is paused no fire is owed. When it is resumed, the version of that moment owes a skip for every fire
       from where the cursor stood.
    3. A removed job owes nothing after its removal.
    """
    found: dict[datetime, ExpectedFire] = {}
    for rule in job.rules:
        for fire in _of_rule(job, rule, since, until):
            found.setdefault(fire.at, fire)
    for pause in job.pauses:
        for fire in _of_pause(job, pause, since, until):
            found[fire.at] = fire
    return [found[at] for at in sorted(found)]


def _of_rule(job: JobHistory, rule: Rule, since: datetime, until: datetime) -> Iterator[ExpectedFire]:
    end = min(rule.until or ALWAYS, job.removed_at or ALWAYS)
    # A fire that was moved forward is decided before its own time, so it may lie after the end of its version.
    forward = [at for at, to in rule.overrides.items() if to is not None and to <= end < at]
    last = max([end, *forward]) if end is not ALWAYS else ALWAYS
    begin = max(rule.since + TIME_RESOLUTION, since)
    for at, exists in rule.fires(begin, min(until, last + TIME_RESOLUTION if last is not ALWAYS else until)):
        decided = rule.decided_at(at)
        if decided > end or decided < since - OLDEST_ROW or _is_held(job, decided):
            continue
        skip, days_known = _skip_of(job, rule, at, exists=exists)
        # With a greatest number of fires, which one is the last depends on how many were missed.
        certain = decided > rule.since and rule.policies.max_count is None
        yield ExpectedFire(at, rule.due(at), rule.version, skip, certain, days_known)


def _of_pause(job: JobHistory, pause: Pause, since: datetime, until: datetime) -> Iterator[ExpectedFire]:
    if pause.until is None:
        return
    rule = job.rule_at(pause.until)
    if rule is None:
        return
    begin = max(pause.stood or pause.since, since)
    for at, _exists in rule.fires(begin, min(until, pause.until + TIME_RESOLUTION)):
        yield ExpectedFire(at, at, rule.version, SkipReason.PAUSED)


def _is_held(job: JobHistory, decided: datetime) -> bool:
    """Whether the cursor of a paused job stood at a fire, or before it."""
    return any((pause.stood or pause.since) <= decided <= (pause.until or ALWAYS) for pause in job.pauses)


def _skip_of(job: JobHistory, rule: Rule, at: datetime, *, exists: bool) -> tuple[SkipReason | None, bool]:
    """Return why a fire is skipped, and whether the calendars of that time are known."""
    if not exists:
        return SkipReason.DST_GAP, True
    closed = rule.calendar_skip(at, job.calendars)
    known = not rule.policies.calendars or not rule.calendars_changed_after(at, job.calendars)
    if closed is not None or not known:
        return closed, known
    return (SkipReason.REQUESTED if rule.is_skipped_by_request(at) else None), True
