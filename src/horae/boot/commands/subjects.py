"""`horae subject …`: the subjects of a rolling job."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from horae.api.models.subjects import CoverageView, SubjectChangesView, SubjectView
from horae.boot.output import answer, say
from horae.boot.session import caller, out
from horae.boot.verbs import Verbs
from horae.service.rolling import subjects

app = Verbs(no_args_is_help=True)
Job = Annotated[str, typer.Argument(metavar="JOB", help="A rolling job: its name or its id.")]
Keys = Annotated[list[str], typer.Argument(metavar="KEY...", help="What the business calls the subjects.")]
AtOnce = Annotated[bool, typer.Option("--at-once", help="Run them now, and count that; else at the next tick.")]
MOST: Final = 50


@app.command()
async def add(job: Job, keys: Keys, at_once: AtOnce = False) -> None:
    """Add keys to the set; keys that are in it already do not change."""
    async with caller() as ctx:
        done = await subjects.add(ctx, await subjects.rolling_job(ctx, job), keys, at_once=at_once)
        say(SubjectChangesView.of(done), f"{done.changed} of {done.named} are new")


@app.command()
async def remove(job: Job, keys: Keys) -> None:
    """Remove keys from the set; a refresh under way may finish."""
    async with caller() as ctx:
        done = await subjects.remove(ctx, await subjects.rolling_job(ctx, job), keys)
        say(SubjectChangesView.of(done), f"{done.changed} of {done.named} are gone")


@app.command("import")
async def take_in(
    job: Job,
    file: Annotated[Path | None, typer.Option("--file", help="A key a line; read from a pipe where omitted.")] = None,
    at_once: AtOnce = False,
) -> None:
    """Add all keys of a file to the set, one key a line; the file can have any size."""

    async def lines() -> AsyncIterator[str]:
        with sys.stdin if file is None else file.open() as opened:
            for line in opened:
                if key := line.strip():
                    yield key

    async with caller() as ctx:
        done = await subjects.import_keys(ctx, await subjects.rolling_job(ctx, job), lines(), at_once=at_once)
        say(SubjectChangesView.of(done), f"{done.changed} of {done.named} are new")


@app.command("list")
async def listing(
    job: Job,
    after: Annotated[str, typer.Option(help="Only keys after this one.")] = "",
    prefix: Annotated[str, typer.Option(help="Prefix filter on the key.")] = "",
    limit: int = MOST,
) -> None:
    """List subjects by key, each with its last refresh."""
    async with caller() as ctx:
        found = await subjects.page(ctx, await subjects.rolling_job(ctx, job), after, limit, prefix)
    table = Table("key", "started (UTC)", "finished", "last success", "remark")
    for one in found:
        times = (one.started_at, one.finished_at, one.last_success_at)
        table.add_row(one.key, *(f"{at:%Y-%m-%d %H:%M:%S}" if at else "" for at in times), one.remark or "")
    answer([SubjectView.of(one) for one in found], lambda: out.print(table))


@app.command()
async def coverage(job: Job) -> None:
    """Show which share of the set is fresh, whether that is enough, and when it is expected to be."""
    async with caller() as ctx:
        found = await subjects.coverage(ctx, await subjects.rolling_job(ctx, job))
    state = "met" if found.met else "not met"
    when = f", estimated {found.estimate_at:%Y-%m-%d %H:%M} UTC" if found.estimate_at else ""
    text = f"{found.fresh} of {found.subjects} are fresh ({found.share:.3%}): {state}{when}"
    say(CoverageView.of(found), text)
