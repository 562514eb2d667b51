"""Celery-beat entries and django-celery-beat rows, as plain values.

An entry is what `beat_schedule` holds, with its schedule as seconds, or as a mapping with the fields of a crontab. A
row is a `PeriodicTask` with its `crontab`, `interval` or `clocked` beside it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from horae.domain.cron import Dialect
from horae.domain.errors import InvalidSchedule
from horae.domain.schedule import Misfire, Policies
from horae.domain.triggers import IntervalTrigger, OnceTrigger, Trigger
from horae.service.imports.celery_fields import FIELDS
from horae.service.imports.celery_tables import KINDS, MISSING
from horae.service.imports.found import Difference, Found, Imported, Kind, cron_in, differs_by_dst, refused

PERIODS = {"days": 86_400.0, "hours": 3_600.0, "minutes": 60.0, "seconds": 1.0, "microseconds": 1e-6}


def read(name: str, entry: Mapping[str, Any], *, app_zone: str, anchor: datetime, salt: str = "") -> Found:
    """One entry or row. `app_zone` is the app's timezone setting; `anchor` is where intervals begin."""
    source = str(entry.get("crontab") or entry.get("interval") or entry.get("clocked") or entry.get("schedule"))
    try:
        trigger, differences = _trigger(name, entry, app_zone, anchor, salt)
        policies = _policies(entry, trigger)
    except (InvalidSchedule, ValueError, TypeError, LookupError) as error:
        return refused(name, source, InvalidSchedule(str(error) or "it has no schedule that can be read"))
    if entry.get("options") or entry.get("queue") or entry.get("routing_key"):
        differences.append(Difference(Kind.IGNORED, "routing options are not taken over: give the job its target"))
    disabled = entry.get("enabled") is False
    if disabled:
        differences.append(Difference(Kind.DISABLED, "it was disabled; taken over as paused"))
    return Imported(
        name=name,
        source=source,
        trigger=trigger,
        policies=policies,
        payload={key: entry[key] for key in ("task", "args", "kwargs") if entry.get(key)},
        differences=tuple(differences),
        paused=disabled,
    )


def _trigger(
    name: str, entry: Mapping[str, Any], app_zone: str, anchor: datetime, salt: str
) -> tuple[Trigger, list[Difference]]:
    schedule = entry.get("schedule")
    for kind in KINDS:
        if isinstance(given := entry.get(kind), Mapping) and MISSING in given:
            raise InvalidSchedule(f"its {kind} {given[MISSING]} is not in the dump")
    if entry.get("solar"):
        raise InvalidSchedule("a solar schedule follows the sun, which we do not")
    if entry.get("clocked"):
        return OnceTrigger(_moment(entry["clocked"])), []
    if entry.get("interval"):
        interval = entry["interval"]
        return _interval(float(interval["every"]) * PERIODS[str(interval["period"])], anchor)
    if isinstance(schedule, timedelta):
        return _interval(schedule.total_seconds(), anchor)
    if isinstance(schedule, int | float):
        return _interval(float(schedule), anchor)
    fields = entry.get("crontab") or schedule
    if not isinstance(fields, Mapping) or FIELDS.keys().isdisjoint(fields):
        raise InvalidSchedule("the entry has no crontab, interval or clocked time")
    return _crontab(name, fields, app_zone, salt)


def _interval(seconds: float, anchor: datetime) -> tuple[Trigger, list[Difference]]:
    text = "beat counts from the last run and from its own start; ours from a fixed anchor, without drift"
    return IntervalTrigger(seconds, anchor), [Difference(Kind.RHYTHM, text)]


def _crontab(name: str, fields: Mapping[str, Any], app_zone: str, salt: str) -> tuple[Trigger, list[Difference]]:
    zone_name = str(fields.get("timezone") or app_zone)
    words = [FIELDS[key].spelled(fields.get(key, "*")) for key in FIELDS]
    expression = " ".join(["0", *words])
    differences = []
    if words[2] != "*" and words[4] != "*":
        text = "day_of_month and day_of_week must both match, as in Celery; kept by the dialect spring6"
        differences.append(Difference(Kind.DAYS, text))
    written = [str(fields.get(key, "*")) for key in FIELDS]
    if written != words:
        text = f"{' '.join(written)!r} is written {' '.join(words)!r}"
        differences.append(Difference(Kind.REWRITTEN, text))
    trigger = cron_in(expression, Dialect.SPRING6, zone_name, f"{salt}/{name}")
    differences += differs_by_dst(trigger, "beat may run a time twice, late or not at all when clocks change")
    return trigger, differences


def _policies(entry: Mapping[str, Any], trigger: Trigger) -> Policies:
    """Beat runs what it missed once, when it is back."""
    once = bool(entry.get("one_off")) and not isinstance(trigger, OnceTrigger)
    start, end = entry.get("start_time"), entry.get("expires")
    return Policies(
        misfire=Misfire(),
        max_count=1 if once else None,
        start=None if start is None else _moment(start),
        end=None if end is None else _moment(end),
    )


def _moment(given: object) -> datetime:
    at = given if isinstance(given, datetime) else datetime.fromisoformat(str(given))
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
