"""`horae job …` and `horae history`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final

import typer

from horae.boot.commands.job_lines import answer_job, print_job
from horae.boot.commands.job_people import (
    Contacts,
    Description,
    FailAfter,
    LateAfter,
    Owner,
    Runbook,
    people_said,
)
from horae.boot.commands.job_refs import JobRef
from horae.boot.commands.payloads import json_of
from horae.boot.commands.schedules import trigger_said
from horae.boot.following import Follow, print_new
from horae.boot.output import Exit, err, say, wants_json
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import MOMENT, moment
from horae.boot.verbs import Verbs
from horae.domain.cron import Dialect, Gap, Overlap
from horae.domain.errors import Invalid
from horae.domain.jobs.edges import EndKind
from horae.domain.jobs.jobs import Status
from horae.domain.jobs.orders import JobOrder
from horae.domain.schedules import OnMisfire, OnOverlap
from horae.domain.schedules.calendars import CalendarMode
from horae.domain.schedules.triggers import TriggerKind
from horae.domain.tasks.tasks import AfterSuccess
from horae_client import keys
from horae_client.asked import jobs as asked
from horae_client.models import Instance
from horae_client.wire import Request, path

app = Verbs(no_args_is_help=True)
ACCEPTED: Final = {"success", "accepted", "declined"}
"""Outcomes of a test request that the target accepted."""


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
        str | None,
        typer.Option(help="A rolling set: the time in which each subject runs once, in seconds, as 10d or as 1mo."),
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
    after_job: Annotated[str | None, typer.Option(help="Start after this job of the tenant has ended.")] = None,
    after_on: Annotated[EndKind, typer.Option(help="The ends that --after-job means.")] = EndKind.SUCCEEDED,
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
        "after": None if after_job is None else {"job": after_job, "on": after_on},
        "priority": priority,
        "after_success": AfterSuccess.REOPEN if reopen else AfterSuccess.IGNORE,
        "expires_after": expires_after,
        **people_said(description, owner, runbook, contact, late_after, fail_after),
    }
    spec = _given(said) | ({} if payload is None else {"payload": json_of(payload)})
    async with remote() as api:
        await answer_job(api, await api.ask(asked.create(name, spec, keys.made())))
    if said["trigger"] is None and after_job is None and not wants_json():
        err.print(f"it has no trigger: it fires only with `horae job trigger {name}`", highlight=False)


@app.command("list")
async def list_(
    status: Annotated[Status | None, typer.Option(help="Only jobs of this status.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only with this label: key, or key=value.")] = None,
    prefix: Annotated[str, typer.Option(help="Prefix filter on the job name.")] = "",
    contains: Annotated[str, typer.Option(help="Filter on a part of the job name, in upper or lower case.")] = "",
    kind: Annotated[TriggerKind | None, typer.Option(help="Only jobs with a trigger of this kind.")] = None,
    owner: Annotated[str | None, typer.Option(help="Only jobs of this owner.")] = None,
    order: Annotated[JobOrder, typer.Option(help="By name, last changed first, or soonest next fire first.")] = (
        JobOrder.NAME
    ),
    limit: Annotated[int | None, typer.Option(help="Maximum number of jobs; all where omitted.")] = None,
) -> None:
    """List the jobs of the tenant."""
    names = {"prefix": prefix or None, "contains": contains or None}
    wanted = {"status": status, "label": label or None, "kind": kind, "owner": owner} | names
    query = {name: value for name, value in wanted.items() if value is not None}
    order_said = {} if order is JobOrder.NAME else {"order": order}
    async with remote() as api:
        found = await api.items(asked.listing(query | order_said), limit)
    rows = [
        (
            job.name,
            job.status,
            "unreadable" if job.unreadable else job.trigger.get("expression") or job.trigger["kind"],
            moment(job.next_fire_at),
            job.owner,
            job.id,
        )
        for job in found.value
    ]
    columns = ("name", "status", "trigger", "next fire (UTC)", "owner", "id")
    empty = "no job matches" if query else "there are no jobs yet: `horae job create` makes one"
    answer_rows(found.facts, columns, rows, empty=empty, least=("id", "owner", "trigger"), wraps=("trigger",))


@app.command()
async def pause(name: JobRef) -> None:
    """Stop fires and claims of a job; running instances may finish."""
    async with remote() as api:
        await answer_job(api, await api.ask(asked.verb(name, "pause", keys.made())))


@app.command()
async def resume(name: JobRef) -> None:
    """Continue from now; fires that were missed meanwhile are recorded as skipped."""
    async with remote() as api:
        await answer_job(api, await api.ask(asked.verb(name, "resume", keys.made())))


@app.command()
async def remove(name: JobRef) -> None:
    """Remove a job: it fires no more; its history stays."""
    async with remote() as api:
        reply = await api.ask(asked.remove(name))
    print_job(reply.facts, reply.value)


@app.command()
async def trigger(
    name: JobRef,
    key: Annotated[
        str | None, typer.Option(help="The Idempotency-Key: the same key fires once. A new one where omitted.")
    ] = None,
    payload: Annotated[str | None, typer.Option(help="JSON for this run only.")] = None,
) -> None:
    """Fire a job now."""
    async with remote() as api:
        reply = await api.ask(asked.trigger(name, json_of(payload), keys.made(key)))
    say(reply.facts, reply.value.instance_id)


@app.command("test")
async def try_(
    name: JobRef,
    payload: Annotated[str | None, typer.Option(help="JSON for this request; the job's own where omitted.")] = None,
) -> None:
    """Send a test request to a job's target; nothing fires. Exits with 1 unless the target accepts it."""
    body = {"payload": json_of(payload)} if payload is not None else {}
    async with remote() as api:
        reply = await api.ask(Request("POST", path("jobs", name, "test"), dict[str, Any], body=body, again=False))
    tried = reply.value
    lines = [f"{header}: {value}" for header, value in tried["headers"].items()]
    said = "\n".join([tried["sent"] or "nothing was sent", "", *lines, "", tried["answer"] or ""])
    why = tried["detail"].get("message") or f"answered {tried['status']}"
    say(reply.facts, f"{said}\n{tried['outcome']}: {why} in {tried['duration_ms']} ms")
    if tried["outcome"] not in ACCEPTED:
        raise typer.Exit(Exit.REFUSED)


async def history(name: JobRef, limit: int = 20, follow: Follow = False) -> None:
    """List the fires of a job with their results, newest first."""
    request = asked.history(name, (), None, None, None)
    async with remote() as api:
        if follow:
            await print_new(api, request, change_of, _history_row)
        found = await api.items(request, limit)
    columns = ("fire time (UTC)", "key", "state", "attempts", "delay ms", "took ms", "why", "id")
    empty = f"{name} has not fired yet"
    least = ("took ms", "delay ms", "attempts", "key", "why")
    answer_rows(found.facts, columns, [*map(_history_row, found.value)], empty=empty, least=least, wraps=("why",))


def change_of(facts: Mapping[str, Any]) -> object:
    """What tells two states of an instance apart: a change of an instance is new."""
    return facts["id"], facts["changed_at"]


def _history_row(past: Instance) -> tuple[object, ...]:
    why = past.error_msg
    if past.range_count and past.range_to:
        why = f"{past.range_count} fires up to {moment(past.range_to)}"
    state = f"{past.state}({past.reason})" if past.reason else past.state
    figures = (past.attempt, past.trigger_delay_ms, past.duration_ms)
    return (moment(past.fire_time), past.key, state, *figures, why, past.id)


def _given(said: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not None, inside of fields, too."""
    plain = {name: _given(value) if isinstance(value, Mapping) else value for name, value in said.items()}
    return {name: value for name, value in plain.items() if value is not None}


def _target(url: str | None, rate: float | None) -> dict[str, object] | None:
    if url:
        return {"kind": "http", "url": url, "rate": rate}
    if rate is not None:
        raise Invalid("--rate is of calls: say with --url where they go")
    return None
