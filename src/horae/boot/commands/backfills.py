"""`horae backfill …`: past fires of a job, requested as a range, with a progress bar."""

import asyncio
from datetime import datetime
from typing import Annotated, Final

import typer
from rich.progress import Progress

from horae.boot.commands.job_refs import JobRef
from horae.boot.output import err, say, wants_json
from horae.boot.remote import Remote, Reply, remote
from horae.boot.times import MOMENT, moment
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.domain.schedules.backfills import DEFAULT_CAP, BackfillStatus
from horae_client import keys
from horae_client.asked import jobs, runs
from horae_client.models import Backfill

app = Verbs(no_args_is_help=True)
Id = Annotated[str, typer.Argument(metavar="BACKFILL", help="A backfill's id, bkf_….")]
Follow = Annotated[bool, typer.Option("--follow", help="Wait until all of it has ended, with a bar.")]
PROGRESS_INTERVAL_S: Final = 0.5


@app.command()
async def start(
    job: JobRef,
    since: Annotated[datetime, typer.Option(help="From this fire time on, with its offset.", formats=[MOMENT])],
    until: Annotated[datetime, typer.Option(help="Up to this one, excluded.", formats=[MOMENT])],
    key: Annotated[str, typer.Option(help="The Idempotency-Key: the same key begins it once.")],
    cap: Annotated[int, typer.Option(help="Refuse more fires than these.")] = DEFAULT_CAP,
    rerun: Annotated[bool, typer.Option(help="Run again on purpose what ran before, under new keys.")] = False,
    follow: Follow = False,
) -> None:
    """Run a job's past fires of a range; they use the backfill lane, which has the smallest share of the calls."""
    if since.tzinfo is None or until.tzinfo is None:
        raise Invalid("a time needs its offset, for example 2026-11-15T09:00:00+08:00")
    async with remote() as api:
        begun = await api.ask(jobs.backfill(job, since, until, cap, rerun, keys.made(key)))
        _show(await _follow(api, begun.value.id) if follow else begun)


@app.command()
async def show(id_: Id, follow: Follow = False) -> None:
    """Show the progress of a backfill."""
    async with remote() as api:
        _show(await _follow(api, id_) if follow else await api.ask(runs.backfill(id_)))


@app.command("cancel")
async def call_off(id_: Id) -> None:
    """Cancel a backfill: no more fires are created, waiting ones are cancelled, running ones may finish."""
    async with remote() as api:
        _show(await api.ask(runs.cancel_backfill(id_, keys.made())))


async def _follow(api: Remote, id_: str) -> Reply[Backfill]:
    """Wait until every fire has ended, with a progress bar on a terminal."""
    with Progress(console=err, transient=True, disable=wants_json() or not err.is_terminal) as bar:
        task = bar.add_task("backfill", total=None)
        while True:
            reply = await api.ask(runs.backfill(id_))
            one = reply.value
            ended = sum((one.ended or {}).values())
            bar.update(task, total=one.planned, completed=(one.already or 0) + ended)
            if one.status != BackfillStatus.RUNNING and not one.waiting:
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
    say(reply.facts, text)
