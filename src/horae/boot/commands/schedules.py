"""`horae job preview|skip|move|restore`, and how the options of a schedule are read."""

import re
from datetime import datetime
from typing import Annotated, Final

import typer

from horae.boot.commands.job_lines import answer_job, print_job
from horae.boot.commands.job_refs import JobRef
from horae.boot.remote import remote
from horae.boot.times import MOMENT
from horae.domain.cron import Dialect, Gap, Overlap
from horae.domain.errors import Invalid
from horae.domain.schedules.triggers import TriggerKind
from horae_client import keys
from horae_client.asked import jobs as asked

TICKS: Final = 10
"""The default number of ticks in a rolling set's window."""
WINDOW: Final = re.compile(r"(?P<number>\d+(\.\d+)?(?!\w)|\d+)(?P<unit>d|mo)?", re.ASCII)
UNITS: Final = {"d": "days", "mo": "months"}
UNIT_SECONDS: Final = {"": 1, "d": 86_400, "mo": 30 * 86_400}
When = Annotated[datetime, typer.Argument(formats=[MOMENT])]


async def preview(name: JobRef, many: Annotated[int, typer.Option(help="How many of them.")] = 20) -> None:
    """Show the next fires, with a reason for each one that will be skipped."""
    async with remote() as api:
        coming = await api.ask(asked.preview(name, many))
        job = await api.ask(asked.get(name))
    print_job(coming.facts, job.value, coming.value)


async def skip(name: JobRef, at: When) -> None:
    """Skip the occurrence at that time."""
    async with remote() as api:
        await answer_job(api, await api.ask(asked.verb(name, "skip", keys.made(), {"at": at})))


async def move(name: JobRef, at: When, to: When) -> None:
    """Move the occurrence at that time to another time."""
    async with remote() as api:
        await answer_job(api, await api.ask(asked.verb(name, "move", keys.made(), {"at": at, "to": to})))


async def restore(name: JobRef, at: When) -> None:
    """Restore the occurrence at that time to what the schedule says."""
    async with remote() as api:
        await answer_job(api, await api.ask(asked.verb(name, "restore", keys.made(), {"at": at})))


def trigger_said(
    cron: str | None,
    dialect: Dialect | None,
    zone: str | None,
    dst: tuple[Gap, Overlap],
    every: float | None,
    at: datetime | None,
    after: float | None,
    keyed: bool,
    rolling: str | None,
) -> dict[str, object] | None:
    """The one trigger that the options describe, in the fields of the API. Without one the job fires by hand only."""
    given: list[dict[str, object]] = []
    asked = {"expression": cron, "dialect": dialect, "zone": zone, "dst_gap": dst[0], "dst_overlap": dst[1]}
    schedule: dict[str, object] | None = None if cron is None else {"kind": TriggerKind.CRON.value, **asked}
    if rolling is not None:
        given.append(_rolling_said(rolling, schedule, every, zone))
    elif schedule is not None:
        given.append(schedule)
    if rolling is None and every is not None:
        given.append({"kind": TriggerKind.INTERVAL.value, "every": every})
    if at is not None:
        given.append({"kind": TriggerKind.ONCE.value, "at": at})
    if after is not None:
        given.append({"kind": TriggerKind.DELAY.value, "seconds": after})
    if keyed:
        given.append({"kind": TriggerKind.KEYED.value})
    if len(given) > 1:
        raise Invalid("a job has one trigger: --cron, --every, --at, --after, --keyed or --rolling")
    return given[0] if given else None


def _rolling_said(
    window: str, schedule: dict[str, object] | None, every: float | None, zone: str | None
) -> dict[str, object]:
    """A rolling trigger. Its ticks come by a cron schedule, or every so many seconds; by default ten in a window."""
    if schedule is not None and every is not None:
        raise Invalid("the ticks of a rolling set come by --cron or by --every, not by both")
    found = WINDOW.fullmatch(window)
    if found is None:
        raise Invalid(f"a window is a number of seconds, of days (10d) or of months (1mo), not {window!r}")
    number, unit = found["number"], found["unit"]
    length: object = float(number) if not unit else {UNITS[unit]: int(number), "zone": zone}
    seconds = float(number) * UNIT_SECONDS[unit or ""]
    ticks: object = schedule or (seconds / TICKS if every is None else every)
    return {"kind": TriggerKind.ROLLING.value, "window": length, "every": ticks}
