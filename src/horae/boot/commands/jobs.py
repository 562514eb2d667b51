"""`horae job …` and `horae history`."""

from datetime import datetime
from typing import Annotated, Final

import msgspec
import typer
from rich.table import Table

from horae.api.models.instances import InstanceView, Triggered
from horae.api.models.jobs import JobView
from horae.api.models.operations import TrialView
from horae.boot.commands.schedules import MOMENT, moment, show, trigger_from
from horae.boot.serving import sender_of
from horae.boot.session import caller, load, out, run
from horae.boot.telling import Exit, Verbs, answer, say
from horae.domain.calendars import Mode, Rule
from horae.domain.cron import Dialect, Gap, Overlap
from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, public
from horae.domain.instances import Priority
from horae.domain.jobs import Definition, Status, Wanted, own_queue
from horae.domain.outcomes import Accepted, Declined, Success
from horae.domain.retries import RetryPolicy
from horae.domain.rolling import ONE_TRY
from horae.domain.schedule import Misfire, OnMisfire, OnOverlap, Policies, Spread
from horae.domain.targets import HttpTarget, Target
from horae.domain.tasks import AfterSuccess
from horae.domain.triggers import Kind
from horae.service import instances, jobs, tenants
from horae.service.sealing import shown_or_not
from horae.service.targets import Tried
from horae.service.trials import Trials

app = Verbs(no_args_is_help=True)


MOST: Final = 100_000


@app.command()
def create(
    name: str,
    cron: Annotated[str | None, typer.Option(help="A cron expression: 5 fields unix, 6 Spring, 7 Quartz.")] = None,
    dialect: Annotated[Dialect | None, typer.Option(help="How to read the expression.")] = None,
    zone: Annotated[str | None, typer.Option(help="An IANA zone; the tenant's own where omitted.")] = None,
    dst_gap: Annotated[Gap, typer.Option(help="A time that the clocks jump over.")] = Gap.FIRE_AFTER,
    dst_overlap: Annotated[Overlap, typer.Option(help="A time that the clocks show twice.")] = Overlap.FIRST,
    every: Annotated[float | None, typer.Option(help="Every so many seconds; of a set, its ticks.")] = None,
    at: Annotated[datetime | None, typer.Option(help="Once, at this time (with offset).", formats=[MOMENT])] = None,
    after: Annotated[float | None, typer.Option(help="Once, so many seconds from now.")] = None,
    keyed: Annotated[bool, typer.Option(help="A type of tasks: each business key has its own time.")] = False,
    rolling: Annotated[float | None, typer.Option(help="A set: each subject once in so many seconds.")] = None,
    misfire: Annotated[OnMisfire, typer.Option(help="What becomes of missed fires.")] = OnMisfire.ONCE,
    max_lateness: Annotated[float | None, typer.Option(help="Seconds after which a missed fire is given up.")] = None,
    overlap: Annotated[OnOverlap, typer.Option(help="When the one before still runs.")] = OnOverlap.ALLOW,
    window: Annotated[float, typer.Option(help="Spread this job within so many seconds.")] = 0.0,
    jitter: Annotated[float, typer.Option(help="Spread each of its fires within so many seconds.")] = 0.0,
    start: Annotated[datetime | None, typer.Option(help="No fire before.", formats=[MOMENT])] = None,
    end: Annotated[datetime | None, typer.Option(help="No fire from then on.", formats=[MOMENT])] = None,
    max_count: Annotated[int | None, typer.Option(help="At most so many fires.")] = None,
    on_days: Annotated[list[str] | None, typer.Option(help="Only on the days of this calendar.")] = None,
    not_on_days: Annotated[list[str] | None, typer.Option(help="Never on the days of this calendar.")] = None,
    url: Annotated[str | None, typer.Option(help="Where to send it; the queue of its name where omitted.")] = None,
    rate: Annotated[float | None, typer.Option(help="At most so many calls a second to it, of all nodes.")] = None,
    payload: Annotated[str | None, typer.Option(help="JSON that the target receives.")] = None,
    priority: Annotated[str, typer.Option(help="critical, normal or low.")] = "normal",
    reopen: Annotated[bool, typer.Option(help="A key that succeeded may be scheduled anew.")] = False,
    expires_after: Annotated[float | None, typer.Option(help="Seconds for which a due run may wait.")] = None,
) -> None:
    """Make a job; the answer says what was understood and when it fires."""
    rules = [Rule(name) for name in on_days or ()] + [Rule(name, Mode.EXCLUDE) for name in not_on_days or ()]

    async def work() -> None:
        async with caller() as ctx:
            definition = Definition(
                trigger=trigger_from(
                    ctx, name, cron, dialect, zone, (dst_gap, dst_overlap), every, at, after, keyed, rolling
                ),
                policies=Policies(
                    misfire=Misfire(misfire, max_lateness),
                    overlap=overlap,
                    spread=Spread(window, jitter),
                    calendars=tuple(rules),
                    start=start,
                    end=end,
                    max_count=max_count,
                ),
                target=_target(name, url, rate),
                retry=RetryPolicy() if rolling is None else ONE_TRY,
                priority=_priority(priority),
                payload=json_of(payload),
                after_success=AfterSuccess.REOPEN if reopen else AfterSuccess.IGNORE,
                expires_after=expires_after,
            )
            await show(ctx, await jobs.create(ctx, name, definition))

    run(work)


@app.command("list")
def list_(
    status: Annotated[Status | None, typer.Option(help="Only jobs of this status.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only with this label: key, or key=value.")] = None,
    prefix: Annotated[str, typer.Option(help="Only names that begin so.")] = "",
    kind: Annotated[Kind | None, typer.Option(help="Only with such a trigger.")] = None,
) -> None:
    """All jobs of the tenant."""
    asked = [(key, value if equals else None) for key, equals, value in (one.partition("=") for one in label or ())]
    labels = {key: value for key, value in asked if value is not None}

    async def work() -> None:
        async with caller() as ctx:
            table = Table("name", "status", "trigger", "next fire (UTC)", "id")
            wanted = Wanted(status, labels, tuple(key for key, value in asked if value is None), prefix, kind)
            found = await jobs.listing(ctx) if wanted.any else await jobs.page(ctx, wanted, limit=MOST, whole=False)
            for job in found:
                trigger = msgspec.to_builtins(job.definition.trigger)
                table.add_row(
                    job.name,
                    job.status,
                    trigger.get("expression", trigger["kind"]),
                    moment(job.next_fire_at),
                    public(Prefix.JOB, job.id),
                )
            told = [await shown_or_not(ctx, job) for job in found]
            answer([JobView.of(job) for job in told], lambda: out.print(table))

    run(work)


@app.command()
def pause(name: str) -> None:
    """Stop fires and claims; what runs may finish."""

    async def work() -> None:
        async with caller() as ctx:
            await show(ctx, await jobs.pause(ctx, name))

    run(work)


@app.command()
def resume(name: str) -> None:
    """Go on from now; what passed is recorded as skipped."""

    async def work() -> None:
        async with caller() as ctx:
            await show(ctx, await jobs.resume(ctx, name))

    run(work)


@app.command()
def remove(name: str) -> None:
    """No fire any more; history stays."""

    async def work() -> None:
        async with caller() as ctx:
            await show(ctx, await jobs.remove(ctx, name))

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
            done = await instances.trigger(ctx, name, key, payload=json_of(payload))
            again = " (this key was used before)" if done.replayed else ""
            id_, job = public(Prefix.INSTANCE, done.instance_id), await jobs.find(ctx, name)
            told = Triggered(instance_id=id_, job_id=public(Prefix.JOB, job.id), job=name)
            say(told, f"{id_}{again}")

    run(work)


@app.command("test")
def try_(
    name: str,
    payload: Annotated[str | None, typer.Option(help="JSON for this request; the job's own where omitted.")] = None,
) -> None:
    """Send a test request to a job's target; nothing fires. Ends with status 1 unless the target took it."""

    async def work() -> Tried:
        async with caller() as ctx:
            job = await jobs.find(ctx, name)
            trials = Trials(await sender_of(load(), ctx.store))
            try:
                return await trials.run(ctx, await tenants.allowance(ctx), job, json_of(payload))
            finally:
                await trials.close()

    tried = run(work)
    lines = [f"{header}: {value}" for header, value in tried.headers.items()]
    said = "\n".join([tried.sent or "nothing was sent", "", *lines, "", tried.answer or ""])
    say(TrialView.of(tried), f"{said}\n{_outcome(tried)} in {tried.duration_ms} ms")
    if not isinstance(tried.outcome, Success | Accepted | Declined):
        raise typer.Exit(Exit.REFUSED)


def history(name: str, limit: int = 20) -> None:
    """What became of a job's fires, newest first."""

    async def work() -> None:
        async with caller() as ctx:
            table = Table("fire time (UTC)", "key", "state", "attempts", "delay ms", "took ms", "why", "id")
            found = await instances.of_job(ctx, name, limit=limit)
            for past in found:
                why = past.error_msg or ""
                if past.range_count and past.range_to:
                    why = f"{past.range_count} fires up to {moment(past.range_to)}"
                state = f"{past.state}({past.reason})" if past.reason else past.state
                cells = (past.business_key, state, past.attempt, past.trigger_delay_ms, past.duration_ms, why)
                shown = ("" if cell is None else str(cell) for cell in cells)
                table.add_row(moment(past.fire_time), *shown, public(Prefix.INSTANCE, past.id))
            answer([InstanceView.of(past) for past in found], lambda: out.print(table))

    run(work)


def _outcome(tried: Tried) -> str:
    """The outcome in a few words: what it was, and why."""
    message = getattr(tried.outcome, "message", "") or f"answered {tried.status}"
    return f"{type(tried.outcome).__name__.lower()}: {message}"


def json_of(text: str | None) -> object:
    """A payload as a person typed it."""
    try:
        return None if text is None else msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise Invalid(f"the payload is not JSON: {error}") from error


def _target(name: str, url: str | None, rate: float | None) -> Target:
    if url:
        return HttpTarget(url, rate=rate)
    if rate is not None:
        raise Invalid("--rate is of calls: say with --url where they go")
    return own_queue(name)


def _priority(text: str) -> Priority:
    try:
        return Priority[text.upper()]
    except KeyError as error:
        raise Invalid(f"a priority is critical, normal or low, not {text!r}") from error
