"""Converts django-celery-beat tables, and `beat_schedule` of a module or an export, into entries for `celery`."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import msgspec

from horae.domain.errors import Invalid
from horae.service.imports.dumps import Tables

APP: Final = "django_celery_beat_"
TASKS: Final = f"{APP}periodictask"
KINDS: Final = ("crontab", "interval", "clocked", "solar")
CRONTAB: Final = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
FALSE: Final = {"0", "f", "false", "n", "no"}
OURS: Final = "celery."
MISSING: Final = "missing"
"""Marks a schedule whose row is not in the dump; the value is the id of that row."""
Entries = dict[str, dict[str, Any]]


def of_tables(tables: Tables) -> Entries:
    """Returns an entry for each row of `PeriodicTask`, with its schedule."""
    kinds = {kind: {str(row.get("id")): row for row in tables.get(f"{APP}{kind}schedule", [])} for kind in KINDS}
    found: Entries = {}
    for row in tables.get(TASKS, []):
        entry = {key: value for key, value in row.items() if key not in KINDS and not key.endswith("_id")}
        for kind, rows in kinds.items():
            number = row.get(f"{kind}_id", row.get(kind))
            if number not in (None, ""):
                entry[kind] = rows.get(str(number), {MISSING: number})
        if isinstance(entry.get("clocked"), Mapping) and MISSING not in entry["clocked"]:
            entry["clocked"] = entry["clocked"].get("clocked_time")
        for key in ("args", "kwargs"):
            entry[key] = _decode(entry.get(key))
        for key in ("enabled", "one_off"):
            if key in entry:
                entry[key] = str(entry[key]).lower() not in FALSE
        found[str(row.get("name"))] = {key: value for key, value in entry.items() if value not in (None, "")}
    return found


def of_schedule(schedule: object) -> Entries:
    """Returns the entries of a `beat_schedule`. Its schedules are objects of Celery or plain values."""
    if not isinstance(schedule, Mapping):
        raise Invalid("a beat schedule is a mapping from a name to an entry")
    return {str(name): _entry(entry) for name, entry in schedule.items()}


def entries_of_export(text: str) -> Entries | None:
    """Returns the entries of a `beat_schedule` in JSON; None when the text is something else."""
    try:
        found = msgspec.json.decode(text, type=dict[str, dict[str, Any]])
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    return of_schedule(found)


def _entry(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise Invalid("an entry of a beat schedule is a mapping with `task` and `schedule`")
    return {**entry, "schedule": _schedule(entry.get("schedule"))}


def _schedule(given: Any) -> Any:
    """Reads objects of Celery by their attributes, so that Celery need not be installed."""
    if all(hasattr(given, f"_orig_{field}") for field in CRONTAB):
        said = {field: getattr(given, f"_orig_{field}") for field in CRONTAB}
        zone = getattr(given, "tz", None)
        return said | ({"timezone": str(zone)} if zone is not None else {})
    if isinstance(getattr(given, "run_every", None), timedelta):
        return given.run_every
    return given


def _decode(text: Any) -> Any:
    """Decodes arguments, which their columns hold as JSON."""
    if not isinstance(text, str):
        return text
    try:
        return msgspec.json.decode(text) or None
    except msgspec.DecodeError:
        return text
