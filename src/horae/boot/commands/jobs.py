"""`horae job …` and `horae history`."""

from datetime import datetime
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from horae.boot.session import caller, out, run
from horae.domain.cron import Dialect
from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, public
from horae.domain.instances import Priority
from horae.domain.jobs import Definition, Job, own_queue
from horae.domain.targets import HttpTarget
from horae.domain.tasks import AfterSuccess
from horae.domain.triggers import (
    DelayTrigger,
    IntervalTrigger,
    KeyedTrigger,
    ManualTrigger,
    OnceTrigger,
    Trigger,
    next_fire,
)
from horae.domain.triggers import (
    cron as cron_trigger,
)
from horae.service import instances, jobs
from horae.service.context import Context

app = typer.Typer(no_args_is_help=True)
PREVIEW = 5


@app.command()
def create(
    name: str,
    cron: Annotated[str | None, typer.Option(help="A cron expression: 5 fields unix, 6 Spring, 7 Quartz.")] = None,
    dialect: Annotated[Dialect | None, typer.Option(help="How to read the expression.")] = None,
    zone: Annotated[str | None, typer.Option(help="An IANA zone; the tenant's own where omitted.")] = None,
    every: Annotated[float | None, typer.Option(help="Every so many seconds.")] = None,
    at: Annotated[
        datetime | None, typer.Option(help="Once, at this time (with offset).", formats=["%Y-%m-%dT%H:%M:%S%z"])
    ] = None,
    after: Annotated[float | None, typer.Option(help="Once, so many seconds from now.")] = None,
    keyed: Annotated[bool, typer.Option(help="A type of tasks: each business key has its own time.")] = False,
    url: Annotated[str | None, typer.Option(help="Where to send it; the queue of its name where omitted.")] = None,
    payload: Annotated[str | None, typer.Option(help="JSON that the target receives.")] = None,
    priority: Annotated[str, typer.Option(help="critical, normal or low.")] = "normal",
    reopen: Annotated[bool, typer.Option(help="A key that succeeded may be scheduled anew.")] = False,
) -> None:
    """Make a job; the answer says what was understood and when it fires."""

    async def work() -> None:
        async with caller() as ctx:
            definition = Definition(
                trigger=_trigger(ctx, name, cron, dialect, zone, every, at, after, keyed=keyed),
                target=HttpTarget(url) if url else own_queue(name),
                priority=_priority(priority),
                payload=_json(payload),
                after_success=AfterSuccess.REOPEN if reopen else AfterSuccess.IGNORE,
            )
            _show(await jobs.create(ctx, name, definition))

    run(work)


@app.command("list")
def list_() -> None:
    """All jobs of the tenant."""

    async def work() -> None:
        async with caller() as ctx:
            table = Table("name", "status", "trigger", "next fire (UTC)", "id")
            for job in await jobs.listing(ctx):
                trigger = msgspec.to_builtins(job.definition.trigger)
                table.add_row(
                    job.name,
                    job.status,
                    trigger.get("expression", trigger["kind"]),
                    _time(job.next_fire_at),
                    public(Prefix.JOB, job.id),
                )
            out.print(table)

    run(work)


@app.command()
def pause(name: str) -> None:
    """Stop fires and claims; what runs may finish."""

    async def work() -> None:
        async with caller() as ctx:
            _show(await jobs.pause(ctx, name))

    run(work)


@app.command()
def resume(name: str) -> None:
    """Go on from now; what passed is recorded as skipped."""

    async def work() -> None:
        async with caller() as ctx:
            _show(await jobs.resume(ctx, name))

    run(work)


@app.command()
def remove(name: str) -> None:
    """No fire any more; history stays."""

    async def work() -> None:
        async with caller() as ctx:
            _show(await jobs.remove(ctx, name))

    run(work)


@app.command()
def trigger(
    name: str,
    key: Annotated[str, typer.Option(help="The Idempotency-Key: the same key fires once.")],
    payload: Annotated[str | None, typer.Option(help="JSON for this run only.")] = None,
) -> None:
    """Fire a job now."""

    async def work() -> None:
        async with caller() as ctx:
            done = await instances.trigger(ctx, name, key, payload=_json(payload))
            again = " (this key was used before)" if done.replayed else ""
            out.print(f"{public(Prefix.INSTANCE, done.instance_id)}{again}", highlight=False)

    run(work)


def history(name: str, limit: int = 20) -> None:
    """What became of a job's fires, newest first."""

    async def work() -> None:
        async with caller() as ctx:
            table = Table("fire time (UTC)", "key", "state", "attempts", "delay ms", "took ms", "why", "id")
            for past in await instances.of_job(ctx, name, limit=limit):
                why = past.error_msg or ""
                if past.range_count and past.range_to:
                    why = f"{past.range_count} fires up to {_time(past.range_to)}"
                state = f"{past.state}({past.reason})" if past.reason else past.state
                cells = (past.business_key, state, past.attempt, past.trigger_delay_ms, past.duration_ms, why)
                shown = ("" if cell is None else str(cell) for cell in cells)
                table.add_row(_time(past.fire_time), *shown, public(Prefix.INSTANCE, past.id))
            out.print(table)

    run(work)


def _trigger(
    ctx: Context,
    name: str,
    cron: str | None,
    dialect: Dialect | None,
    zone: str | None,
    every: float | None,
    at: datetime | None,
    after: float | None,
    *,
    keyed: bool,
) -> Trigger:
    given: list[Trigger] = []
    if cron is not None:
        zone_name = zone or ctx.tenant.zone
        given.append(cron_trigger(cron, dialect=dialect, zone_name=zone_name, salt=f"{ctx.tenant.name}/{name}"))
    if every is not None:
        given.append(IntervalTrigger(every, ctx.store.cell(ctx.tenant.shard(name)).clock.now().replace(microsecond=0)))
    if at is not None:
        given.append(OnceTrigger(at))
    if after is not None:
        given.append(DelayTrigger(after))
    if keyed:
        given.append(KeyedTrigger())
    if len(given) > 1:
        raise Invalid("a job has one trigger: --cron, --every, --at, --after or --keyed")
    return given[0] if given else ManualTrigger()


def _show(job: Job) -> None:
    out.print(f"{job.name} {public(Prefix.JOB, job.id)} {job.status}", highlight=False)
    trigger = job.definition.trigger
    facts = " ".join(f"{name}={value}" for name, value in msgspec.to_builtins(trigger).items() if name != "salt")
    out.print(f"  trigger  {facts}", highlight=False)
    out.print(
        f"  target   {' '.join(f'{n}={v}' for n, v in msgspec.to_builtins(job.definition.target).items())}",
        highlight=False,
    )
    fire = job.next_fire_at
    for number in range(PREVIEW):
        if fire is None:
            break
        out.print(f"  {'fires   ' if not number else '        '} {_time(fire)} UTC", highlight=False)
        fire = next_fire(trigger, fire)


def _time(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def _json(text: str | None) -> object:
    try:
        return None if text is None else msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise Invalid(f"the payload is not JSON: {error}") from error


def _priority(text: str) -> Priority:
    try:
        return Priority[text.upper()]
    except KeyError as error:
        raise Invalid(f"a priority is critical, normal or low, not {text!r}") from error
