"""Reads celery-beat entries and django-celery-beat rows, as plain values.

An entry is what `beat_schedule` holds: its schedule is a number of seconds, or a mapping with the fields of a crontab.
A row is a `PeriodicTask` with its `crontab`, `interval` or `clocked`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from horae.domain.cron import Dialect
from horae.domain.errors import InvalidSchedule
from horae.domain.schedules import Misfire, Policies
from horae.domain.schedules.triggers import IntervalTrigger, OnceTrigger, Trigger
from horae.service.imports.celery_fields import FIELDS
from horae.service.imports.celery_tables import KINDS, MISSING
from horae.service.imports.results import (
    DifferenceTopic,
    Found,
    ImportDifference,
    ImportedJob,
    cron_in,
    description_in,
    differs_by_dst,
    refused_entry,
)

PERIODS_S = {"days": 86_400.0, "hours": 3_600.0, "minutes": 60.0, "seconds": 1.0, "microseconds": 1e-6}
"""Seconds in each period of an interval."""


def read(name: str, entry: Mapping[str, Any], *, app_zone: str, anchor: datetime, salt: str = "") -> Found:
    """Reads one entry or row. `app_zone` is the app's timezone setting; intervals begin at `anchor`."""
    source = str(entry.get("crontab") or entry.get("interval") or entry.get("clocked") or entry.get("schedule"))
    try:
        trigger, differences = _trigger(name, entry, app_zone, anchor, salt)
        policies = _policies(entry, trigger)
    except (InvalidSchedule, ValueError, TypeError, LookupError) as error:
        return refused_entry(name, source, InvalidSchedule(str(error) or "it has no schedule that can be read"))
    if entry.get("options") or entry.get("queue") or entry.get("routing_key"):
        differences.append(
            ImportDifference(DifferenceTopic.IGNORED, "routing options are not taken over: give the job its target")
        )
    disabled = entry.get("enabled") is False
    if disabled:
        differences.append(ImportDifference(DifferenceTopic.DISABLED, "it was disabled; taken over as paused"))
    return ImportedJob(
        name=name,
        source=source,
        trigger=trigger,
        policies=policies,
        payload={key: entry[key] for key in ("task", "args", "kwargs") if entry.get(key)},
        description=description_in(entry.get("description")),
        differences=tuple(differences),
        paused=disabled,
    )


def _trigger(
    name: str, entry: Mapping[str, Any], app_zone: str, anchor: datetime, salt: str
) -> tuple[Trigger, list[ImportDifference]]:
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
        return _interval(float(interval["every"]) * PERIODS_S[str(interval["period"])], anchor)
    if isinstance(schedule, timedelta):
        return _interval(schedule.total_seconds(), anchor)
    if isinstance(schedule, int | float):
        return _interval(float(schedule), anchor)
    fields = entry.get("crontab") or schedule
    if not isinstance(fields, Mapping) or FIELDS.keys().isdisjoint(fields):
        raise InvalidSchedule("the entry has no crontab, interval or clocked time")
    return _crontab(name, fields, app_zone, salt)


def _interval(seconds: float, anchor: datetime) -> tuple[Trigger, list[ImportDifference]]:
    text = "beat counts from the last run and from its own start; ours from a fixed anchor, without drift"
    return IntervalTrigger(seconds, anchor), [ImportDifference(DifferenceTopic.RHYTHM, text)]


def _crontab(name: str, fields: Mapping[str, Any], app_zone: str, salt: str) -> tuple[Trigger, list[ImportDifference]]:
    zone_name = str(fields.get("timezone") or app_zone)
    words = [FIELDS[key].to_spring(fields.get(key, "*")) for key in FIELDS]
    expression = " ".join(["0", *words])
    differences = []
    if words[2] != "*" and words[4] != "*":
        text = "day_of_month and day_of_week must both match, as in Celery; kept by the dialect spring6"
        differences.append(ImportDifference(DifferenceTopic.DAYS, text))
    written = [str(fields.get(key, "*")) for key in FIELDS]
    if written != words:
        text = f"{' '.join(written)!r} is written {' '.join(words)!r}"
        differences.append(ImportDifference(DifferenceTopic.REWRITTEN, text))
    trigger = cron_in(expression, Dialect.SPRING6, zone_name, f"{salt}/{name}")
    differences += differs_by_dst(trigger, "beat may run a time twice, late or not at all when clocks change")
    return trigger, differences


def _policies(entry: Mapping[str, Any], trigger: Trigger) -> Policies:
    """Returns the policies: like beat, run missed fires once."""
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
