"""`horae job …` and `horae history`."""

from datetime import datetime
from typing import Annotated, Final

import msgspec
import typer
from rich.table import Table

from horae.api.models.instances import InstanceView, TriggerAnswer
from horae.api.models.jobs import JobView
from horae.api.models.operations import JobTestResult
from horae.boot.commands.job_people import (
    Contacts,
    Description,
    FailAfter,
    LateAfter,
    Owner,
    Runbook,
    people_said,
)
from horae.boot.commands.schedules import MOMENT, moment, show, trigger_said
from horae.boot.output import Exit, answer, say
from horae.boot.serving import sender_of
from horae.boot.session import caller, load, out
from horae.boot.verbs import Verbs
from horae.domain.cron import Dialect, Gap, Overlap
from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, public
from horae.domain.instances.outcomes import WORDS, AcceptedCall, DeclinedCall, Success
from horae.domain.jobs.definitions import definition_of
from horae.domain.jobs.jobs import Job, JobFilter, Status
from horae.domain.schedules import OnMisfire, OnOverlap
from horae.domain.schedules.calendars import CalendarMode
from horae.domain.schedules.triggers import TriggerKind
from horae.domain.tasks.tasks import AfterSuccess
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_job_or_mark
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.targets.targets import TrialResult
from horae.service.targets.trials import Trials
from horae.service.tenants import tenants

app = Verbs(no_args_is_help=True)


MOST: Final = 100_000


@app.command()
async def create(
    name: str,
    cron: Annotated[str | None, typer.Option(help="A cron expression: 5 fields unix, 6 Spring, 7 Quartz.")] = None,
    dialect: Annotated[Dialect | None, typer.Option(help="The dialect of the cron expression.")] = None,
    zone: Annotated[str | None, typer.Option(help="An IANA zone; the tenant's own where omitted.")] = None,
    dst_gap: Annotated[Gap, typer.Option(help="What to do at a time that the clocks jump over.")] = Gap.FIRE_AFTER,
    dst_overlap: Annotated[
        Overlap, typer.Option(help="What to do at a time that the clocks show twice.")
    ] = Overlap.FIRST,
    every: Annotated[
        float | None, typer.Option(help="Interval in seconds; for --rolling, the time between ticks.")
    ] = None,
    at: Annotated[datetime | None, typer.Option(help="Once, at this time (with offset).", formats=[MOMENT])] = None,
    after: Annotated[float | None, typer.Option(help="Once, this many seconds from now.")] = None,
    keyed: Annotated[bool, typer.Option(help="A type of tasks: each business key has its own time.")] = False,
    rolling: Annotated[
        float | None, typer.Option(help="A rolling set: the seconds in which each subject runs once.")
    ] = None,
    misfire: Annotated[OnMisfire, typer.Option(help="What to do with missed fires.")] = OnMisfire.ONCE,
    max_lateness: Annotated[
        float | None, typer.Option(help="Skip a missed fire that is later than this, in seconds.")
    ] = None,
    overlap: Annotated[
        OnOverlap, typer.Option(help="What to do if the previous run is still running.")
    ] = OnOverlap.ALLOW,
    window: Annotated[float, typer.Option(help="Fixed random offset of the job, up to this many seconds.")] = 0.0,
    jitter: Annotated[float, typer.Option(help="Random offset of each fire, up to this many seconds.")] = 0.0,
    start: Annotated[datetime | None, typer.Option(help="Do not fire before this time.", formats=[MOMENT])] = None,
    end: Annotated[datetime | None, typer.Option(help="Do not fire at or after this time.", formats=[MOMENT])] = None,
    max_count: Annotated[int | None, typer.Option(help="Stop after this many fires.")] = None,
    on_days: Annotated[list[str] | None, typer.Option(help="Only on the days of this calendar.")] = None,
    not_on_days: Annotated[list[str] | None, typer.Option(help="Never on the days of this calendar.")] = None,
    url: Annotated[
        str | None, typer.Option(help="The URL to call; if omitted, workers claim from the queue of its name.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Maximum number of calls per second, over all nodes.")] = None,
    payload: Annotated[str | None, typer.Option(help="JSON that the target receives.")] = None,
    priority: Annotated[str, typer.Option(help="critical, normal or low.")] = "normal",
    reopen: Annotated[bool, typer.Option(help="A key that succeeded may be scheduled again.")] = False,
    expires_after: Annotated[
        float | None, typer.Option(help="How long a due run may wait to be sent, in seconds.")
    ] = None,
    description: Description = None,
    owner: Owner = None,
    runbook: Runbook = None,
    contact: Contacts = None,
    late_after: LateAfter = None,
    fail_after: FailAfter = None,
) -> None:
    """Create a job; the answer shows how it was understood and when it fires."""
    modes = ((on_days, CalendarMode.INCLUDE), (not_on_days, CalendarMode.EXCLUDE))
    async with caller() as ctx:
        said = {
            "trigger": trigger_said(cron, dialect, zone, (dst_gap, dst_overlap), every, at, after, keyed, rolling),
            "policies": {
                "misfire": {"policy": misfire, "max_lateness": max_lateness},
                "overlap": overlap,
                "spread": {"window": window, "jitter": jitter},
                "calendars": [{"calendar": day, "mode": mode} for days, mode in modes for day in days or ()],
                "start": start,
                "end": end,
                "max_count": max_count,
            },
            "target": _target(url, rate),
            "priority": priority,
            "payload": json_of(payload),
            "after_success": AfterSuccess.REOPEN if reopen else AfterSuccess.IGNORE,
            "expires_after": expires_after,
            **people_said(description, owner, runbook, contact, late_after, fail_after),
        }
        definition = definition_of(said, ctx.tenant, name, ctx.now(ctx.tenant.shard(name)))
        await show(ctx, await jobs.create(ctx, name, definition))


@app.command("list")
async def list_(
    status: Annotated[Status | None, typer.Option(help="Only jobs of this status.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only with this label: key, or key=value.")] = None,
    prefix: Annotated[str, typer.Option(help="Prefix filter on the job name.")] = "",
    kind: Annotated[TriggerKind | None, typer.Option(help="Only jobs with a trigger of this kind.")] = None,
    owner: Annotated[str | None, typer.Option(help="Only jobs of this owner.")] = None,
) -> None:
    """List the jobs of the tenant."""
    asked = [(key, value if equals else None) for key, equals, value in (one.partition("=") for one in label or ())]
    labels = {key: value for key, value in asked if value is not None}
    async with caller() as ctx:
        table = Table("name", "status", "trigger", "next fire (UTC)", "owner", "id")
        wanted = JobFilter(status, labels, tuple(key for key, value in asked if value is None), prefix, kind, owner)
        found = await jobs.listing(ctx) if wanted.any else await _page(ctx, wanted)
        for job in found:
            trigger = msgspec.to_builtins(job.definition.trigger)
            table.add_row(
                job.name,
                job.status,
                "unreadable" if job.is_unreadable else trigger.get("expression", trigger["kind"]),
                moment(job.next_fire_at),
                job.definition.owner or "",
                public(Prefix.JOB, job.id),
            )
        facts = [await decrypt_job_or_mark(ctx, job) for job in found]
        answer([JobView.of(job) for job in facts], lambda: out.print(table))


async def _page(ctx: Context, wanted: JobFilter) -> list[Job]:
    return await jobs.page(ctx, wanted, limit=MOST, whole=False, unreadable=True)


@app.command()
async def pause(name: str) -> None:
    """Stop fires and claims of a job; running instances may finish."""
    async with caller() as ctx:
        await show(ctx, await jobs.pause(ctx, name))


@app.command()
async def resume(name: str) -> None:
    """Continue from now; fires that were missed meanwhile are recorded as skipped."""
    async with caller() as ctx:
        await show(ctx, await jobs.resume(ctx, name))


@app.command()
async def remove(name: str) -> None:
    """Remove a job: it fires no more; its history stays."""
    async with caller() as ctx:
        await show(ctx, await jobs.remove(ctx, name))


@app.command()
async def trigger(
    name: str,
    key: Annotated[str, typer.Option(help="The Idempotency-Key: the same key fires once.")],
    payload: Annotated[str | None, typer.Option(help="JSON for this run only.")] = None,
) -> None:
    """Fire a job now."""
    async with caller() as ctx:
        done = await instances.trigger(ctx, name, key, payload=json_of(payload))
        again = " (already triggered with this key; same run)" if done.replayed else ""
        id_, job = public(Prefix.INSTANCE, done.instance_id), await jobs.find(ctx, name)
        facts = TriggerAnswer(instance_id=id_, job_id=public(Prefix.JOB, job.id), job=name)
        say(facts, f"{id_}{again}")


@app.command("test")
async def try_(
    name: str,
    payload: Annotated[str | None, typer.Option(help="JSON for this request; the job's own where omitted.")] = None,
) -> None:
    """Send a test request to a job's target; nothing fires. Exits with 1 unless the target accepts it."""
    async with caller() as ctx:
        job = await jobs.find(ctx, name)
        trials = Trials(await sender_of(load(), ctx.store))
        try:
            tried = await trials.run(ctx, await tenants.allowance(ctx), job, json_of(payload))
        finally:
            await trials.close()
    lines = [f"{header}: {value}" for header, value in tried.headers.items()]
    said = "\n".join([tried.sent or "nothing was sent", "", *lines, "", tried.answer or ""])
    say(JobTestResult.of(tried), f"{said}\n{_outcome(tried)} in {tried.duration_ms} ms")
    if not isinstance(tried.outcome, Success | AcceptedCall | DeclinedCall):
        raise typer.Exit(Exit.REFUSED)


async def history(name: str, limit: int = 20) -> None:
    """List the fires of a job with their results, newest first."""
    async with caller() as ctx:
        table = Table("fire time (UTC)", "key", "state", "attempts", "delay ms", "took ms", "why", "id")
        found = await instances.of_job(ctx, name, limit=limit)
        for past in found:
            why = past.error_msg or ""
            if past.range_count and past.range_to:
                why = f"{past.range_count} fires up to {moment(past.range_to)}"
            state = f"{past.state}({past.reason})" if past.reason else past.state
            cells = (past.business_key, state, past.attempt, past.trigger_delay_ms, past.duration_ms, why)
            columns = ("" if cell is None else str(cell) for cell in cells)
            table.add_row(moment(past.fire_time), *columns, public(Prefix.INSTANCE, past.id))
        answer([InstanceView.of(past) for past in found], lambda: out.print(table))


def _outcome(tried: TrialResult) -> str:
    """The outcome in a few words, with the reason."""
    message = getattr(tried.outcome, "message", "") or f"answered {tried.status}"
    return f"{WORDS[type(tried.outcome)]}: {message}"


def json_of(text: str | None) -> object:
    """Parse a payload that a user typed."""
    try:
        return None if text is None else msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise Invalid(f"the payload is not JSON: {error}") from error


def _target(url: str | None, rate: float | None) -> dict[str, object] | None:
    if url:
        return {"kind": "http", "url": url, "rate": rate}
    if rate is not None:
        raise Invalid("--rate is of calls: say with --url where they go")
    return None
