"""Reads another system's log of fires: rows with a name and a time, as CSV, JSON lines or a dump of its table."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from horae.domain.errors import Invalid
from horae.service.imports import dumps
from horae.service.imports.documents import valid_name

NAMES: Final = ("name", "job", "job_name", "job_desc", "task", "task_name", "periodic_task_name", "trigger_name")
TIMES: Final = ("time", "fire_time", "fired_at", "trigger_time", "scheduled_fire_time", "started_at", "at", "timestamp")
MAX_EPOCH_S: Final = 100_000_000_000
"""A larger number is in milliseconds since 1970, a smaller one in seconds."""


def read(text: str, zone: ZoneInfo, name: str | None = None, time: str | None = None) -> dict[str, list[datetime]]:
    """The fire times of each job; times without an offset are in `zone`."""
    found: dict[str, list[datetime]] = {}
    for rows in dumps.read(text, alone="log").values():
        for number, row in enumerate(rows, 1):
            job = valid_name(str(_field(row, name, NAMES)))
            found.setdefault(job, []).append(_moment(_field(row, time, TIMES), zone, number))
    return found


def _field(row: Mapping[str, Any], asked: str | None, usual: tuple[str, ...]) -> Any:
    for key in (asked.lower(),) if asked else usual:
        if row.get(key) not in (None, ""):
            return row[key]
    wanted = asked or " or ".join(usual)
    raise Invalid(f"a row of the log has no {wanted}; it has {', '.join(row)}: say which column with an option")


def _moment(given: Any, zone: ZoneInfo, number: int) -> datetime:
    try:
        if isinstance(given, int | float) or str(given).replace(".", "", 1).isdigit():
            seconds = float(given)
            return datetime.fromtimestamp(seconds / 1000 if seconds > MAX_EPOCH_S else seconds, UTC)
        at = datetime.fromisoformat(str(given))
    except (ValueError, OverflowError, OSError) as error:
        raise Invalid(f"row {number} of the log: {given!r} is no time") from error
    return (at.replace(tzinfo=zone) if at.tzinfo is None else at).astimezone(UTC)
