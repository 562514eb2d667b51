"""`horae backfill-group …`: the same backfill for every job that is chosen by label."""

from typing import Annotated

import typer

from horae.boot.commands.backfills import (
    Cap,
    Key,
    Mode,
    NewestFirst,
    Rate,
    Rerun,
    Since,
    Until,
    body_of,
    duration,
)
from horae.boot.output import say
from horae.boot.remote import Reply, remote
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.domain.schedules.backfills import DEFAULT_CAP
from horae_client import keys
from horae_client.asked import backfills
from horae_client.models import BackfillGroup

app = Verbs(no_args_is_help=True)
Id = Annotated[str, typer.Argument(metavar="GROUP", help="A backfill group's id, bkg_….")]


@app.command()
async def start(
    since: Since,
    until: Until,
    key: Key,
    label: Annotated[list[str] | None, typer.Option(help="Jobs with this label, key=value; all of several.")] = None,
    owner: Annotated[str | None, typer.Option(help="Jobs of this owner.")] = None,
    prefix: Annotated[str | None, typer.Option(help="Jobs whose names begin so.")] = None,
    cap: Cap = DEFAULT_CAP,
    rerun: Rerun = False,
    mode: Mode = None,
    newest_first: NewestFirst = False,
    rate: Rate = None,
) -> None:
    """Run past fires of many jobs: a backfill for each job that is chosen. The rate is that of all together."""
    body = body_of(since, until, cap, rerun, mode, newest_first, rate)
    chosen = {"labels": _labels(label or []) or None, "owner": owner, "prefix": prefix}
    body |= {name: value for name, value in chosen.items() if value is not None}
    async with remote() as api:
        reply = await api.ask(backfills.start_backfill_group(body, keys.made(key)))
    lines = [f"{reply.value.id}: {len(reply.value.items)} jobs"]
    for item in reply.value.items:
        if item.backfill is None:
            lines.append(f"{item.name}: refused, {item.code}: {item.message}")
        else:
            lines.append(f"{item.name}: {item.backfill.id}, {item.backfill.planned} planned")
    say(reply.facts, "\n".join(lines))


@app.command()
async def show(id_: Id) -> None:
    """Show the progress of a backfill group and of its parts."""
    async with remote() as api:
        _show(await api.ask(backfills.backfill_group(id_)))


@app.command()
async def pause(id_: Id) -> None:
    """Pause every part that runs."""
    async with remote() as api:
        _show(await api.ask(backfills.change_backfill_group(id_, "pause")))


@app.command()
async def resume(id_: Id) -> None:
    """Resume every part that is paused."""
    async with remote() as api:
        _show(await api.ask(backfills.change_backfill_group(id_, "resume")))


@app.command()
async def cancel(id_: Id) -> None:
    """Cancel every part that has not ended."""
    async with remote() as api:
        _show(await api.ask(backfills.change_backfill_group(id_, "cancel")))


def _labels(said: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in said]
    if any(not sign for _, sign, _ in pairs):
        raise Invalid("a label is written as key=value")
    return {key: value for key, _, value in pairs}


def _show(reply: Reply[BackfillGroup]) -> None:
    one = reply.value
    left = "" if not one.progress.left_s else f", about {duration(one.progress.left_s)} left"
    lines = [f"{one.id} {one.status}: {one.progress.done} of {one.progress.total} have ended{left}"]
    lines += [f"{part.id} {part.status}: {part.born} created of {part.planned} planned" for part in one.parts]
    say(reply.facts, "\n".join(lines))
