"""`horae subject …`: the subjects of a rolling job."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import Progress

from horae.boot.completion import complete_jobs
from horae.boot.output import err, say, wants_json
from horae.boot.remote import Remote, remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae_client.asked import subjects as asked
from horae_client.models import Changed

app = Verbs(no_args_is_help=True)
Job = Annotated[
    str,
    typer.Argument(metavar="JOB", help="A rolling job: its name or its id.", autocompletion=complete_jobs),
]
Keys = Annotated[list[str], typer.Argument(metavar="KEY...", help="What the business calls the subjects.")]
AtOnce = Annotated[bool, typer.Option("--at-once", help="Run them now, and count that; else at the next tick.")]
MOST: Final = 50
STATUSES: Final = ("never run", "running", "succeeded", "failed")
"""The statuses of a subject, by their number."""


@app.command()
async def add(job: Job, keys: Keys, at_once: AtOnce = False) -> None:
    """Add keys to the set; keys that are in it already do not change."""
    async with remote() as api:
        _say_changed(await _add_all(api, job, iter(keys), at_once=at_once), "new")


@app.command()
async def remove(job: Job, keys: Keys) -> None:
    """Remove keys from the set; a refresh under way may finish."""
    async with remote() as api:
        done = [(await api.ask(asked.remove(job, part))).value for part in asked.parts(keys)]
    _say_changed(_sum(done), "gone")


@app.command("import")
async def take_in(
    job: Job,
    file: Annotated[Path | None, typer.Option("--file", help="A key a line; read from a pipe where omitted.")] = None,
    at_once: AtOnce = False,
) -> None:
    """Add all keys of a file to the set, one key a line; the file can have any size."""
    async with remote() as api:
        _say_changed(await _add_all(api, job, _lines(file), at_once=at_once), "new")


@app.command("list")
async def listing(
    job: Job,
    prefix: Annotated[str, typer.Option(help="Prefix filter on the key.")] = "",
    status: Annotated[
        int | None,
        typer.Option(min=0, max=3, help="Only this status: 0 never run, 1 running, 2 succeeded, 3 failed."),
    ] = None,
    batch: Annotated[str | None, typer.Option(help="Only subjects that the batch of this number took last.")] = None,
    limit: int = MOST,
) -> None:
    """List subjects by key, each with its last refresh."""
    async with remote() as api:
        found = await api.items(asked.subjects(job, prefix, status, batch), limit)
    rows = [
        (
            one.key,
            STATUSES[one.status],
            moment(one.started_at),
            moment(one.finished_at),
            moment(one.last_success_at),
            moment(one.updated_at),
            one.batch_no,
            one.remark,
        )
        for one in found.value
    ]
    columns = ("key", "status", "started (UTC)", "finished", "last success", "updated", "batch", "remark")
    least = ("batch", "updated", "started (UTC)", "remark", "finished")
    answer_rows(found.facts, columns, rows, empty="the set is empty", least=least, wraps=("remark",))


@app.command()
async def coverage(job: Job) -> None:
    """Show which share of the set is fresh, whether that is enough, and when it is expected to be."""
    async with remote() as api:
        reply = await api.ask(asked.coverage(job))
    found = reply.value
    state = "met" if found.met else "not met"
    when = f", estimated {found.estimate_at:%Y-%m-%d %H:%M} UTC" if found.estimate_at else ""
    say(reply.facts, f"{found.fresh} of {found.subjects} are fresh ({found.share:.3%}): {state}{when}")


async def _add_all(api: Remote, job: str, keys: Iterator[str], *, at_once: bool) -> Changed:
    """Add keys in as many requests as needed, with a count of them on a terminal."""
    done: list[Changed] = []
    with Progress(console=err, transient=True, disable=wants_json() or not err.is_terminal) as bar:
        task = bar.add_task("adding", total=None)
        for part in asked.parts(keys):
            done.append((await api.ask(asked.add(job, part, at_once))).value)
            bar.advance(task, len(part))
    return _sum(done)


def _lines(file: Path | None) -> Iterator[str]:
    with sys.stdin if file is None else file.open() as opened:
        for line in opened:
            if key := line.strip():
                yield key


def _sum(done: list[Changed]) -> Changed:
    return Changed(named=sum(one.named for one in done), changed=sum(one.changed for one in done))


def _say_changed(done: Changed, word: str) -> None:
    say(done, f"{done.changed} of {done.named} are {word}")
