"""`horae subjects …`: the members of a rolling job's set."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from horae.api.models.subjects import ChangedView, CoverageView, SubjectView
from horae.boot.session import caller, out, run
from horae.boot.telling import Verbs, answer, say
from horae.service import subjects

app = Verbs(no_args_is_help=True)
Job = Annotated[str, typer.Argument(metavar="JOB", help="A rolling job: its name or its id.")]
Keys = Annotated[list[str], typer.Argument(metavar="KEY...", help="What the business calls the subjects.")]
AtOnce = Annotated[bool, typer.Option("--at-once", help="Run them now, and count that; else at the next tick.")]
MOST: Final = 50


@app.command()
def add(job: Job, keys: Keys, at_once: AtOnce = False) -> None:
    """Put keys into the set; those that are in it stay as they are."""

    async def work() -> None:
        async with caller() as ctx:
            done = await subjects.add(ctx, await subjects.rolling(ctx, job), keys, at_once=at_once)
            say(ChangedView.of(done), f"{done.changed} of {done.named} are new")

    run(work)


@app.command()
def remove(job: Job, keys: Keys) -> None:
    """Take keys out of the set; a refresh that is under way may end."""

    async def work() -> None:
        async with caller() as ctx:
            done = await subjects.remove(ctx, await subjects.rolling(ctx, job), keys)
            say(ChangedView.of(done), f"{done.changed} of {done.named} are gone")

    run(work)


@app.command("import")
def take_in(
    job: Job,
    file: Annotated[Path | None, typer.Option("--file", help="A key a line; read from a pipe where omitted.")] = None,
    at_once: AtOnce = False,
) -> None:
    """Put all keys of a file into the set, a key a line, however many there are."""

    async def lines() -> AsyncIterator[str]:
        with sys.stdin if file is None else file.open() as opened:
            for line in opened:
                if key := line.strip():
                    yield key

    async def work() -> None:
        async with caller() as ctx:
            done = await subjects.take_in(ctx, await subjects.rolling(ctx, job), lines(), at_once=at_once)
            say(ChangedView.of(done), f"{done.changed} of {done.named} are new")

    run(work)


@app.command("list")
def listing(
    job: Job,
    after: Annotated[str, typer.Option(help="Only behind this key.")] = "",
    prefix: Annotated[str, typer.Option(help="Only keys that begin so.")] = "",
    limit: int = MOST,
) -> None:
    """Subjects in the order of their keys, each with its last refresh."""

    async def work() -> None:
        async with caller() as ctx:
            found = await subjects.page(ctx, await subjects.rolling(ctx, job), after, limit, prefix)
        table = Table("key", "started (UTC)", "finished", "last success", "remark")
        for one in found:
            times = (one.started_at, one.finished_at, one.last_success_at)
            table.add_row(one.key, *(f"{at:%Y-%m-%d %H:%M:%S}" if at else "" for at in times), one.remark or "")
        answer([SubjectView.of(one) for one in found], lambda: out.print(table))

    run(work)


@app.command()
def coverage(job: Job) -> None:
    """Which share of the set is fresh, whether that is enough, and when it will be."""

    async def work() -> None:
        async with caller() as ctx:
            found = await subjects.coverage(ctx, await subjects.rolling(ctx, job))
        state = "met" if found.met else "not met"
        when = f", estimated {found.estimate_at:%Y-%m-%d %H:%M} UTC" if found.estimate_at else ""
        text = f"{found.fresh} of {found.subjects} are fresh ({found.share:.3%}): {state}{when}"
        say(CoverageView.of(found), text)

    run(work)
