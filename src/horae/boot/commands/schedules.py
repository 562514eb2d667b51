"""`horae job preview|skip|move|restore` and `horae forecast`; and how a schedule is asked for and shown."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final

import msgspec
import typer
from rich.table import Table

from horae.api.models.jobs import JobView
from horae.api.models.operations import ForecastView
from horae.boot.commands.hold_lines import hold_line
from horae.boot.session import caller, out, run
from horae.boot.telling import answer
from horae.domain.cron import Dialect, Gap, Overlap
from horae.domain.errors import Invalid
from horae.domain.holds import Hold
from horae.domain.ids import Prefix, public
from horae.domain.jobs import Job
from horae.domain.schedule import Fire
from horae.domain.triggers import (
    DelayTrigger,
    IntervalTrigger,
    KeyedTrigger,
    ManualTrigger,
    OnceTrigger,
    RollingTrigger,
    Trigger,
)
from horae.domain.triggers import cron as cron_trigger
from horae.service import forecasts, jobs, schedules
from horae.service.context import Context
from horae.service.sealing import shown_or_not

MOMENT: Final = "%Y-%m-%dT%H:%M:%S%z"
FIVE: Final = 5
TICKS: Final = 10
"""Of a rolling set's window, where nobody says how long one is."""
When = Annotated[datetime, typer.Argument(formats=[MOMENT])]


def preview(name: str, many: Annotated[int, typer.Option(help="How many of them.")] = 20) -> None:
    """What the coming fires will be, with a reason for each that will not happen."""

    async def work() -> None:
        async with caller() as ctx:
            await show(ctx, await jobs.find(ctx, name), many)

    run(work)


def skip(name: str, at: When) -> None:
    """Leave out the occurrence at that time."""

    async def work() -> None:
        async with caller() as ctx:
            await show(ctx, await schedules.skip(ctx, name, at))

    run(work)


def move(name: str, at: When, to: When) -> None:
    """Let the occurrence at that time happen at another."""

    async def work() -> None:
        async with caller() as ctx:
            await show(ctx, await schedules.move(ctx, name, at, to))

    run(work)


def restore(name: str, at: When) -> None:
    """Let the occurrence at that time happen as the schedule has it."""

    async def work() -> None:
        async with caller() as ctx:
            await show(ctx, await schedules.restore(ctx, name, at))

    run(work)


def forecast(hours: Annotated[float, typer.Option(help="How far ahead.")] = 24) -> None:
    """How many fires are coming, and which seconds are the worst."""

    async def work() -> None:
        async with caller() as ctx:
            found = await forecasts.forecast(ctx, hours=hours)
            title = f"{found.forecast.total} fires in the next {hours:g} h"
            if not found.complete:
                title += f" of the {found.jobs} jobs that fire least: the others are too many to count"
            table = Table("second (UTC)", "fires", "jobs", title=title)
            for at, fires, who in found.worst:
                table.add_row(moment(at), str(fires), ", ".join(who[:FIVE]) + (" …" if len(who) > FIVE else ""))
            answer(ForecastView.of(found), lambda: out.print(table))

    run(work)


def trigger_from(
    ctx: Context,
    name: str,
    cron: str | None,
    dialect: Dialect | None,
    zone: str | None,
    dst: tuple[Gap, Overlap],
    every: float | None,
    at: datetime | None,
    after: float | None,
    keyed: bool,
    rolling: float | None,
) -> Trigger:
    """The one trigger that was asked for."""
    given: list[Trigger] = []
    if cron is not None:
        salt = f"{ctx.tenant.name}/{name}"
        made = cron_trigger(cron, dialect=dialect, zone_name=zone or ctx.tenant.zone, salt=salt)
        given.append(msgspec.structs.replace(made, dst_gap=dst[0], dst_overlap=dst[1]))
    now = ctx.store.cell(ctx.tenant.shard(name)).clock.now().replace(microsecond=0)
    if rolling is not None:
        given.append(RollingTrigger(rolling, rolling / TICKS if every is None else every, now))
    elif every is not None:
        given.append(IntervalTrigger(every, now))
    if at is not None:
        given.append(OnceTrigger(at))
    if after is not None:
        given.append(DelayTrigger(after))
    if keyed:
        given.append(KeyedTrigger())
    if len(given) > 1:
        raise Invalid("a job has one trigger: --cron, --every, --at, --after, --keyed or --rolling")
    return given[0] if given else ManualTrigger()


async def show(ctx: Context, job: Job, many: int = FIVE, held: Sequence[Hold] | None = None) -> None:
    """A job as it was understood: its dialect, a sentence in two languages, the next fires, and what is held back."""
    said, job = await schedules.preview(ctx, job, many=many), await shown_or_not(ctx, job)
    lines = [f"{job.name} {public(Prefix.JOB, job.id)} {job.status}"]
    lines.append(f"  trigger  {_facts(job.definition.trigger)}")
    lines += [f"           {sentence}" for sentence in (said.english, said.chinese) if sentence]
    lines.append(f"  target   {_facts(job.definition.target)}")
    if job.definition.labels:
        lines.append(f"  labels   {' '.join(f'{key}={value}' for key, value in job.definition.labels.items())}")
    if job.single and job.next_fire_at is not None:
        lines.append(f"  fires    {moment(job.next_fire_at)} UTC")
    if job.status == "ACTIVE":
        for number, verdict in enumerate(said.verdicts):
            text = f"{moment(verdict.fire_time)} UTC"
            if isinstance(verdict, Fire):
                text += f", due {moment(verdict.due_at)}" if verdict.due_at != verdict.fire_time else ""
            else:
                text += f" skipped: {verdict.reason}" + (f", {verdict.fires} fires" if verdict.fires > 1 else "")
            lines.append(f"  {'fires   ' if not number else '        '} {text}")
    told = JobView.of(job, said, held)
    lines += [f"  held     {hold_line(hold)}" for hold in told.held or ()]
    text = "\n".join(lines)
    answer(told, lambda: out.print(text, highlight=False, soft_wrap=True))


def moment(at: datetime | None) -> str:
    """A time as people read it, in UTC."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def _facts(value: object) -> str:
    facts = msgspec.to_builtins(value).items()
    return " ".join(f"{name}={fact}" for name, fact in facts if name not in {"salt", "tzdata"})
