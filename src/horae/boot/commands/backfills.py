"""`horae backfill …`: past fires of a job, asked for as a range, with a bar that follows them."""

import asyncio
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

import typer
from rich.progress import Progress as Bar

from horae.api.models.instances import BackfillView
from horae.boot.commands.schedules import MOMENT, moment
from horae.boot.session import caller, err, out, run
from horae.boot.telling import Verbs, answer, wants_json
from horae.domain.backfills import DEFAULT_CAP, Backfill, Progress
from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, private, public
from horae.service import backfills
from horae.service.backfills import Asked, Shown
from horae.service.context import Context

app = Verbs(no_args_is_help=True)
Id = Annotated[str, typer.Argument(metavar="BACKFILL", help="A backfill's id, bkf_….")]
Follow = Annotated[bool, typer.Option("--follow", help="Wait until all of it has ended, with a bar.")]
PAUSE: Final = 0.5


@app.command()
def start(
    job: str,
    since: Annotated[datetime, typer.Option(help="From this fire time on, with its offset.", formats=[MOMENT])],
    until: Annotated[datetime, typer.Option(help="Up to this one, excluded.", formats=[MOMENT])],
    key: Annotated[str, typer.Option(help="The Idempotency-Key: the same key begins it once.")],
    cap: Annotated[int, typer.Option(help="Refuse more fires than these.")] = DEFAULT_CAP,
    rerun: Annotated[bool, typer.Option(help="Run again on purpose what ran before, under new keys.")] = False,
    follow: Follow = False,
) -> None:
    """Run a job's past fires of a range; nodes walk through it, behind what is due."""

    async def work() -> None:
        if since.tzinfo is None or until.tzinfo is None:
            raise Invalid("a time needs its offset, for example 2026-11-15T09:00:00+08:00")
        async with caller() as ctx:
            begun = (await backfills.start(ctx, job, key, Asked(since, until, cap, rerun))).backfill
            if follow:
                _show_whole(await _follow(ctx, begun.id))
            else:
                _show(begun)

    run(work)


@app.command()
def show(id_: Id, follow: Follow = False) -> None:
    """How far a backfill has come."""

    async def work() -> None:
        async with caller() as ctx:
            found = private(Prefix.BACKFILL, id_)
            _show_whole(await _follow(ctx, found) if follow else await backfills.show(ctx, found))

    run(work)


@app.command("cancel")
def call_off(id_: Id) -> None:
    """Make no more of it and cancel what waits; what runs may finish."""

    async def work() -> None:
        async with caller() as ctx:
            _show(await backfills.cancel(ctx, private(Prefix.BACKFILL, id_)))

    run(work)


async def _follow(ctx: Context, id_: UUID) -> Shown:
    """Look until every fire of it has ended; a person sees a bar."""
    with Bar(console=err, transient=True, disable=wants_json() or not err.is_terminal) as bar:
        task = bar.add_task("backfill", total=None)
        while True:
            shown = await backfills.show(ctx, id_)
            one = shown.backfill
            bar.update(task, total=one.planned, completed=one.already + sum(shown.ended.values()))
            if one.status != Progress.RUNNING and not shown.waiting:
                return shown
            await asyncio.sleep(PAUSE)


def _show_whole(shown: Shown) -> None:
    ended = ", ".join(f"{many} {state}" for state, many in sorted(shown.ended.items())) or "none ended"
    text = f"{_said(shown.backfill)}\n{shown.waiting} waiting or running, {ended}"
    answer(BackfillView.whole(shown), lambda: out.print(text, highlight=False))


def _show(one: Backfill) -> None:
    answer(BackfillView.told(one), lambda: out.print(_said(one), highlight=False))


def _said(one: Backfill) -> str:
    done = f"{one.born} born, {one.already} not needed of {one.planned}"
    range_ = f"{moment(one.since)} to {moment(one.until)}"
    return f"{public(Prefix.BACKFILL, one.id)} {one.status}: {range_}, {done}"
