"""Which fire of a job is meant by a time such as 02:00, and when a fire should be due."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from horae.domain.cron import Gap
from horae.domain.errors import Invalid
from horae.domain.schedules import Schedule, expected
from horae.domain.schedules.spread import offset
from horae.domain.schedules.triggers import CronTrigger, Trigger
from horae.domain.schedules.verdicts import FIRST, NEXT_FIRE_SEARCH_SPAN

CLOCK_TIME: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")
REACHES: Final = tuple(timedelta(days=days) for days in (1, 40, 400, 5 * 366))
"""How far back a fire before a time is searched, one after another: most schedules fire daily."""
LONGEST_TIME: Final = 40
"""Characters of a time in a request."""


class MeantFire(NamedTuple):
    """The fire that is meant by a time. `is_exact`: the schedule has a fire at that time."""

    asked: datetime
    at: datetime | None
    is_exact: bool


def asked_time(text: str, here: ZoneInfo, now: datetime) -> datetime:
    """Return the time that a person means. A time of day is the last one that has passed, in the zone of the job."""
    if found := CLOCK_TIME.fullmatch(text.strip()):
        hour, minute, second = (int(part or 0) for part in found.groups())
        local = now.astimezone(here).replace(hour=hour, minute=minute, second=second, microsecond=0, fold=0)
        if local > now:
            local -= timedelta(days=1)  # of the wall clock: the same time of the day before
        return local.astimezone(UTC)
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise Invalid(
            f"{text[:LONGEST_TIME]!r} is no time: write 02:00, 2026-11-15T02:00 or 2026-11-15T02:00:00+08:00"
        ) from error
    at = at if at.tzinfo is not None else at.replace(tzinfo=here)
    if not FIRST <= at <= now + NEXT_FIRE_SEARCH_SPAN:
        raise Invalid(f"a time lies after {FIRST.year} and at most {NEXT_FIRE_SEARCH_SPAN.days} days ahead")
    return at.astimezone(UTC)


def meant_fire(
    schedule: Schedule, asked: datetime, since: datetime | None = None, until: datetime | None = None
) -> MeantFire:
    """Return the fire at a time, the fire that was moved to it, or else the nearest one.

    The schedule was in force after `since`, up to `until`: it owes no other fires.
    """
    for override in schedule.overrides:
        if override.to == asked:
            return MeantFire(asked, override.at, is_exact=True)
    trigger = _with_jumped_fires(schedule.trigger)
    later = expected.after(trigger, asked - expected.TIME_RESOLUTION)
    if later == asked:
        return MeantFire(asked, asked, is_exact=True)
    sooner = _before(trigger, asked)
    found = [at for at in (sooner,) if at is not None and (since is None or at > since)]
    found += [at for at in (later,) if at is not None and (until is None or at <= until)]
    return MeantFire(asked, min(found, key=lambda at: abs(at - asked), default=None), is_exact=False)


def planned_due(schedule: Schedule, fire_time: datetime) -> datetime:
    """Return when a fire should be due: at the time it was moved to, or at its own time and the spread's delay."""
    moved = next((one.to for one in schedule.overrides if one.at == fire_time and one.to is not None), None)
    return fire_time + offset(schedule.policies.spread, schedule.key, fire_time) if moved is None else moved


def _before(trigger: Trigger, at: datetime) -> datetime | None:
    for reach in REACHES:
        found = expected.last_between(trigger, at - reach, at)
        if found is not None:
            return found
    return None


def _with_jumped_fires(trigger: Trigger) -> Trigger:
    """Return the trigger with the fires that the clocks jump over: they have a row with the reason."""
    if isinstance(trigger, CronTrigger) and trigger.dst_gap is Gap.SKIP:
        return replace(trigger, dst_gap=Gap.FIRE_AFTER)
    return trigger
