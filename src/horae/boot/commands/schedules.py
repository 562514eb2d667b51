"""`horae job preview|skip|move|restore` and `horae forecast`; and how a schedule is parsed and printed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final

import msgspec
import typer
from rich.table import Table

from horae.api.models.jobs import JobView
from horae.api.models.operations import ForecastView
from horae.boot.commands.hold_lines import hold_line
from horae.boot.output import answer
from horae.boot.session import caller, out
from horae.domain.cron import Dialect, Gap, Overlap
from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import Definition, Job
from horae.domain.limits.holds import Hold
from horae.domain.schedules import FireVerdict
from horae.domain.schedules.triggers import TriggerKind
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_job_or_mark
from horae.service.jobs import jobs
from horae.service.schedules import forecasts, schedules

MOMENT: Final = "%Y-%m-%dT%H:%M:%S%z"
FIVE: Final = 5
TICKS: Final = 10
"""The default number of ticks in a rolling set's window."""
When = Annotated[datetime, typer.Argument(formats=[MOMENT])]


async def preview(name: str, many: Annotated[int, typer.Option(help="How many of them.")] = 20) -> None:
    """Show the next fires, with a reason for each one that will be skipped."""
    async with caller() as ctx:
        await show(ctx, await jobs.find(ctx, name), many)


async def skip(name: str, at: When) -> None:
    """Skip the occurrence at that time."""
    async with caller() as ctx:
        await show(ctx, await schedules.skip(ctx, name, at))


async def move(name: str, at: When, to: When) -> None:
    """Move the occurrence at that time to another time."""
    async with caller() as ctx:
        await show(ctx, await schedules.move(ctx, name, at, to))


async def restore(name: str, at: When) -> None:
    """Restore the occurrence at that time to what the schedule says."""
    async with caller() as ctx:
        await show(ctx, await schedules.restore(ctx, name, at))


async def forecast(hours: Annotated[float, typer.Option(help="How far ahead.")] = 24) -> None:
    """Show how many fires are coming, and the busiest seconds."""
    async with caller() as ctx:
        found = await forecasts.forecast(ctx, hours=hours)
        title = f"{found.forecast.total} fires in the next {hours:g} h"
        if not found.complete:
            title += f" of the {found.jobs} jobs that fire least: the others are too many to count"
        table = Table("second (UTC)", "fires", "jobs", title=title)
        for at, fires, who in found.worst:
            table.add_row(moment(at), str(fires), ", ".join(who[:FIVE]) + (" …" if len(who) > FIVE else ""))
        answer(ForecastView.of(found), lambda: out.print(table))


def trigger_said(
    cron: str | None,
    dialect: Dialect | None,
    zone: str | None,
    dst: tuple[Gap, Overlap],
    every: float | None,
    at: datetime | None,
    after: float | None,
    keyed: bool,
    rolling: float | None,
) -> dict[str, object] | None:
    """The one trigger that the options describe, in the fields of the API. Without one the job fires by hand only."""
    given: list[dict[str, object]] = []
    if cron is not None:
        asked = {"expression": cron, "dialect": dialect, "zone": zone, "dst_gap": dst[0], "dst_overlap": dst[1]}
        given.append({"kind": TriggerKind.CRON.value, **asked})
    if rolling is not None:
        tick = rolling / TICKS if every is None else every
        given.append({"kind": TriggerKind.ROLLING.value, "window": rolling, "every": tick})
    elif every is not None:
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


async def show(ctx: Context, job: Job, many: int = FIVE, held: Sequence[Hold] | None = None) -> None:
    """Print a job: its trigger with a sentence in two languages, its target, its next fires, and what holds it back."""
    is_newer = job.is_unreadable
    said, job = await schedules.preview(ctx, job, many=many), await decrypt_job_or_mark(ctx, job)
    lines = [f"{job.name} {public(Prefix.JOB, job.id)} {job.status}"]
    if is_newer:
        lines.append("  a newer release wrote it: parts that this one cannot read have default values here")
    lines.append(f"  trigger  {_facts(job.definition.trigger)}")
    lines += [f"           {sentence}" for sentence in (said.english, said.chinese) if sentence]
    lines.append(f"  target   {_facts(job.definition.target)}")
    if job.definition.labels:
        lines.append(f"  labels   {' '.join(f'{key}={value}' for key, value in job.definition.labels.items())}")
    lines += _people_lines(job.definition)
    if job.single and job.next_fire_at is not None:
        lines.append(f"  fires    {moment(job.next_fire_at)} UTC")
    if job.status == "ACTIVE":
        for number, verdict in enumerate(said.verdicts):
            text = f"{moment(verdict.fire_time)} UTC"
            if isinstance(verdict, FireVerdict):
                text += f", due {moment(verdict.due_at)}" if verdict.due_at != verdict.fire_time else ""
            else:
                text += f" skipped: {verdict.reason}" + (f", {verdict.fires} fires" if verdict.fires > 1 else "")
            lines.append(f"  {'fires   ' if not number else '        '} {text}")
    facts = JobView.of(job, said, held)
    lines += [f"  held     {hold_line(hold)}" for hold in facts.held or ()]
    text = "\n".join(lines)
    answer(facts, lambda: out.print(text, highlight=False, soft_wrap=True))


def moment(at: datetime | None) -> str:
    """A time for people, in UTC."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def _people_lines(made: Definition) -> list[str]:
    """A line for each field for people and alerts that the job has."""
    facts = {
        "about": None if made.description is None else " ".join(made.description.split()),
        "owner": made.owner,
        "runbook": made.runbook,
        "contacts": " ".join(made.contacts) or None,
        "late": None if made.late_after is None else f"after {made.late_after} s without a first attempt",
        "failing": None if made.fail_after is None else f"after {made.fail_after} failed runs in a row",
    }
    return [f"  {name:<8} {fact}" for name, fact in facts.items() if fact is not None]


def _facts(value: object) -> str:
    facts = msgspec.to_builtins(value).items()
    return " ".join(f"{name}={fact}" for name, fact in facts if name not in {"salt", "tzdata"})
