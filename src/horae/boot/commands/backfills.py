"""`horae backfill …`: past fires of a job, requested as a range, with a progress bar."""

import asyncio
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

import typer
from rich.progress import Progress as Bar

from horae.api.models.instances import BackfillView
from horae.boot.commands.schedules import MOMENT, moment
from horae.boot.output import answer, wants_json
from horae.boot.session import caller, err, out
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, private, public
from horae.domain.schedules.backfills import DEFAULT_CAP, Backfill, BackfillStatus
from horae.service.context import Context
from horae.service.schedules import backfills
from horae.service.schedules.backfills import BackfillDetail, BackfillRequest

app = Verbs(no_args_is_help=True)
Id = Annotated[str, typer.Argument(metavar="BACKFILL", help="A backfill's id, bkf_….")]
Follow = Annotated[bool, typer.Option("--follow", help="Wait until all of it has ended, with a bar.")]
PROGRESS_INTERVAL_S: Final = 0.5


@app.command()
async def start(
    job: str,
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
    async with caller() as ctx:
        begun = (await backfills.start(ctx, job, key, BackfillRequest(since, until, cap, rerun))).backfill
        if follow:
            _show_whole(await _follow(ctx, begun.id))
        else:
            _show(begun)


@app.command()
async def show(id_: Id, follow: Follow = False) -> None:
    """Show the progress of a backfill."""
    async with caller() as ctx:
        found = private(Prefix.BACKFILL, id_)
        _show_whole(await _follow(ctx, found) if follow else await backfills.show(ctx, found))


@app.command("cancel")
async def call_off(id_: Id) -> None:
    """Cancel a backfill: no more fires are created, waiting ones are cancelled, running ones may finish."""
    async with caller() as ctx:
        _show(await backfills.cancel(ctx, private(Prefix.BACKFILL, id_)))


async def _follow(ctx: Context, id_: UUID) -> BackfillDetail:
    """Wait until every fire has ended, with a progress bar on a terminal."""
    with Bar(console=err, transient=True, disable=wants_json() or not err.is_terminal) as bar:
        task = bar.add_task("backfill", total=None)
        while True:
            detail = await backfills.show(ctx, id_)
            one = detail.backfill
            bar.update(task, total=one.planned, completed=one.already + sum(detail.ended.values()))
            if one.status != BackfillStatus.RUNNING and not detail.waiting:
                return detail
            await asyncio.sleep(PROGRESS_INTERVAL_S)


def _show_whole(detail: BackfillDetail) -> None:
    ended = ", ".join(f"{many} {state}" for state, many in sorted(detail.ended.items())) or "none ended"
    text = f"{_summary(detail.backfill)}\n{detail.waiting} waiting or running, {ended}"
    answer(BackfillView.whole(detail), lambda: out.print(text, highlight=False))


def _show(one: Backfill) -> None:
    answer(BackfillView.of_listed(one), lambda: out.print(_summary(one), highlight=False))


def _summary(one: Backfill) -> str:
    done = f"{one.planned} planned: {one.inserted} created, {one.already} skipped (already succeeded)"
    range_ = f"{moment(one.since)} to {moment(one.until)}"
    return f"{public(Prefix.BACKFILL, one.id)} {one.status}: {range_}, {done}"
