"""`horae backfill …`: past fires of a job, requested as a range, with a progress bar."""

import asyncio
from datetime import datetime
from typing import Annotated, Any, Final

import typer
from rich.progress import Progress

from horae.boot.commands.job_refs import JobRef
from horae.boot.output import err, say, wants_json
from horae.boot.remote import Remote, Reply, remote
from horae.boot.times import MOMENT, moment
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.domain.schedules.backfills import DEFAULT_CAP, BackfillMode, BackfillStatus
from horae_client import keys
from horae_client.asked import backfills, jobs
from horae_client.models import Backfill, BackfillPlan, PaceBound

app = Verbs(no_args_is_help=True)
Id = Annotated[str, typer.Argument(metavar="BACKFILL", help="A backfill's id, bkf_….")]
Follow = Annotated[bool, typer.Option("--follow", help="Wait until all of it has ended, with a bar.")]
PROGRESS_INTERVAL_S: Final = 0.5
MINUTES_FROM_S: Final = 120
HOURS_FROM_S: Final = 7200


Since = Annotated[datetime, typer.Option(help="From this fire time on, with its offset.", formats=[MOMENT])]
Until = Annotated[datetime, typer.Option(help="Up to this one, excluded.", formats=[MOMENT])]
Key = Annotated[str, typer.Option(help="The Idempotency-Key: the same key begins it once.")]
Cap = Annotated[int, typer.Option(help="Refuse more fires of a job than these.")]
Rerun = Annotated[bool, typer.Option(help="Run again on purpose what ran before, under new keys.")]
Mode = Annotated[BackfillMode | None, typer.Option(help="Which fires run; without it all that have not succeeded.")]
NewestFirst = Annotated[bool, typer.Option("--newest-first", help="Run the newest fires first.")]
Rate = Annotated[float | None, typer.Option(help="Create at most so many instances a second.")]


@app.command()
async def start(
    job: JobRef,
    since: Since,
    until: Until,
    key: Key,
    cap: Cap = DEFAULT_CAP,
    rerun: Rerun = False,
    mode: Mode = None,
    newest_first: NewestFirst = False,
    rate: Rate = None,
    follow: Follow = False,
) -> None:
    """Run a job's past fires of a range; they use the backfill lane, which has the smallest share of the calls."""
    body = body_of(since, until, cap, rerun, mode, newest_first, rate)
    async with remote() as api:
        begun = await api.ask(jobs.backfill(job, body, keys.made(key)))
        _show(await _follow(api, begun.value.id) if follow else begun)


@app.command("plan")
async def dry_run(
    job: JobRef,
    since: Since,
    until: Until,
    cap: Cap = DEFAULT_CAP,
    rerun: Rerun = False,
    mode: Mode = None,
    newest_first: NewestFirst = False,
    rate: Rate = None,
) -> None:
    """Show what a backfill would do: how many fires, how long, what load, and what bounds its pace."""
    body = body_of(since, until, cap, rerun, mode, newest_first, rate)
    async with remote() as api:
        _show_plan(await api.ask(backfills.plan_backfill(job, body)))


@app.command()
async def show(id_: Id, follow: Follow = False) -> None:
    """Show the progress of a backfill."""
    async with remote() as api:
        _show(await _follow(api, id_) if follow else await api.ask(backfills.backfill(id_)))


@app.command()
async def pause(id_: Id) -> None:
    """Pause a backfill: no more fires are created until it is resumed; those that exist run."""
    async with remote() as api:
        _show(await api.ask(backfills.pause_backfill(id_, keys.made())))


@app.command()
async def resume(id_: Id) -> None:
    """Resume a paused backfill where it stood."""
    async with remote() as api:
        _show(await api.ask(backfills.resume_backfill(id_, keys.made())))


@app.command("cancel")
async def call_off(id_: Id) -> None:
    """Cancel a backfill: no more fires are created, waiting ones are cancelled, running ones may finish."""
    async with remote() as api:
        _show(await api.ask(backfills.cancel_backfill(id_, keys.made())))


def body_of(
    since: datetime,
    until: datetime,
    cap: int,
    rerun: bool,
    mode: BackfillMode | None,
    newest_first: bool,
    rate: float | None,
) -> dict[str, Any]:
    """The body of a backfill, of its plan or of a group."""
    if since.tzinfo is None or until.tzinfo is None:
        raise Invalid("a time needs its offset, for example 2026-11-15T09:00:00+08:00")
    return jobs.backfill_body(since, until, cap, rerun or None, mode, newest_first or None, rate)


async def _follow(api: Remote, id_: str) -> Reply[Backfill]:
    """Wait until every fire has ended, with a progress bar on a terminal."""
    with Progress(console=err, transient=True, disable=wants_json() or not err.is_terminal) as bar:
        task = bar.add_task("backfill", total=None)
        while True:
            reply = await api.ask(backfills.backfill(id_))
            one = reply.value
            ended = sum((one.ended or {}).values())
            bar.update(task, total=one.planned, completed=(one.already or 0) + ended)
            if one.status not in (BackfillStatus.RUNNING, BackfillStatus.PAUSED) and not one.waiting:
                return reply
            await asyncio.sleep(PROGRESS_INTERVAL_S)


def _show(reply: Reply[Backfill]) -> None:
    one = reply.value
    text = f"{one.id} {one.status or BackfillStatus.RUNNING}: {moment(one.since)} to {moment(one.until)}, "
    text += f"{one.planned} planned"
    if one.born is not None:
        text += f": {one.born} created, {one.already} skipped (already succeeded)"
    if one.ended is not None:
        ended = ", ".join(f"{many} {state}" for state, many in sorted(one.ended.items())) or "none ended"
        text += f"\n{one.waiting} waiting or running, {ended}"
    if one.progress is not None and one.progress.left_s:
        text += f"\nabout {duration(one.progress.left_s)} left"
    say(reply.facts, text)


def _show_plan(reply: Reply[BackfillPlan]) -> None:
    one = reply.value
    text = f"{moment(one.since)} to {moment(one.until)}: {one.planned} fires, {one.needed} to run\n"
    if one.duration_s is None:
        text += "no node is alive: nothing would run now"
    else:
        text += f"about {duration(one.duration_s)} at {one.calls_per_s:.4g} calls a second, "
        text += f"{one.slots:.3g} slots on {one.nodes} nodes"
    text += f"\nbounded by {', '.join(_bound(bound) for bound in one.bounds)}"
    say(reply.facts, text)


def _bound(one: PaceBound) -> str:
    name = "" if one.name is None else f" of {one.name}"
    return f"{one.bound.lower().replace('_', ' ')}{name} ({one.calls_per_s:.4g}/s)"


def duration(seconds: float) -> str:
    """The text of a number of seconds, in the unit that suits it."""
    if seconds < MINUTES_FROM_S:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < HOURS_FROM_S else f"{seconds / 3600:.1f} h"
