"""What a changed calendar does to the coming fires of a job that uses it. A calendar opens and closes days."""

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from horae.domain.schedules.verdicts import FireVerdict, Schedule, calendar_spans, fires, next_running_fire
from horae.domain.steps import Steps


class OpenChange(NamedTuple):
    """A span of time in which one of two schedules may fire; `is_added`: it is the schedule after the change."""

    since: datetime
    until: datetime
    is_added: bool


class FireChanges(NamedTuple):
    """The fires of a job that a changed calendar adds and removes up to `until`, and its next fire before and after.

    `until` is earlier than asked where more fires change than are listed: it is the first one that is left out.
    """

    next_before: datetime | None
    next_after: datetime | None
    added: list[datetime]
    removed: list[datetime]
    until: datetime


def change_steps(before: Schedule, after: Schedule, since: datetime, until: datetime, most: int) -> Steps[FireChanges]:
    """Compare the fires from `since` to `until` (excluded) and list at most `most` that differ, in steps.

    1. Cut the time where a calendar opens or closes. Fires outside of the spans that differ are not computed, so a
       job that fires each second costs no more than the fires that change.
    2. List the fires of the schedule that is open in each such span.

    A `max_count` is left out of account: how many fires are left depends on what runs until then.
    """
    old, new = (replace(one, policies=replace(one.policies, max_count=None)) for one in (before, after))
    next_before = next_running_fire(old, since)
    yield
    next_after = next_running_fire(new, since)
    yield
    added: list[datetime] = []
    removed: list[datetime] = []
    for change in open_changes(old, new, since, until):
        listed = added if change.is_added else removed
        for verdict in fires(new if change.is_added else old, change.since, change.until):
            if isinstance(verdict, FireVerdict):
                if len(added) + len(removed) == most:
                    return _changes(next_before, next_after, added, removed, verdict.fire_time)
                listed.append(verdict.fire_time)
            yield
        yield
    return _changes(next_before, next_after, added, removed, until)


def open_changes(before: Schedule, after: Schedule, since: datetime, until: datetime) -> Iterator[OpenChange]:
    """Yield the spans in which exactly one of the schedules is open, in order of time."""
    old, new = ({at for span in _open_spans(one, since, until) for at in span} for one in (before, after))
    was_open = is_open = False
    for begin, end in pairwise(sorted(old | new)):
        was_open ^= begin in old
        is_open ^= begin in new
        if was_open != is_open:
            yield OpenChange(begin, end, is_open)


def _open_spans(schedule: Schedule, since: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    for span in calendar_spans(schedule, since, until):
        if span.reason is None:
            yield span.since, span.until


def _changes(
    next_before: FireVerdict | None,
    next_after: FireVerdict | None,
    added: list[datetime],
    removed: list[datetime],
    until: datetime,
) -> FireChanges:
    return FireChanges(
        None if next_before is None else next_before.fire_time,
        None if next_after is None else next_after.fire_time,
        added,
        removed,
        until,
    )
