"""`horae queue …` and `horae worker …`."""

from typing import Annotated, Final

import typer

from horae.boot.completion import complete_queues
from horae.boot.output import name_cells_down, say
from horae.boot.reasons import Reason, ask_reason
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae_client.asked import workers as asked

app = Verbs(no_args_is_help=True)
worker = Verbs(no_args_is_help=True)
DRAIN: Final = ("drained by", "why")
"""Columns of workers that a person drained."""
WorkerName = Annotated[str, typer.Argument(help="The worker, by its id as `horae worker list` shows it.")]
OnlyQueue = Annotated[str | None, typer.Option(help="Only the workers of this queue.", autocompletion=complete_queues)]


@app.callback()
def queueing() -> None:
    """Queues: what waits in them, and who polls them."""


@worker.callback()
def working() -> None:
    """Workers: which processes poll which queues."""


@app.command("list")
async def list_queues(limit: Annotated[int, typer.Option(help="Maximum number of queues.")] = 50) -> None:
    """List the queues by name; a queue in which work waits that nobody takes is marked `unattended`."""
    async with remote() as api:
        found = await api.items(asked.queues(None), limit)
    columns = ("queue", "waiting", "oldest (UTC)", "claimed", "polling", "last poll (UTC)", "jobs", "")
    rows = [
        (
            one.name,
            f"{one.waiting}+" if one.more_waiting else one.waiting,
            moment(one.oldest_waiting_since),
            one.claimed,
            one.polling,
            moment(one.polled_at),
            ", ".join(one.jobs),
            "unattended" if one.unattended else "",
        )
        for one in found.value
    ]
    least = ("last poll (UTC)", "oldest (UTC)", "jobs")
    answer_rows(found.facts, columns, rows, empty="no job uses a queue", least=least, wraps=("jobs",))


@worker.command("drain")
async def drain(name: WorkerName, reason: Reason = None) -> None:
    """Give a worker no new work; what it holds goes on. Undo: horae worker resume."""
    why = ask_reason(reason)
    async with remote() as api:
        found = await api.ask(asked.drain(name, why))
    name_cells_down(found.value.cells_down)
    say(found.facts, f"{name} gets no new work; it holds {found.value.claimed} attempts")


@worker.command("resume")
async def resume(name: WorkerName) -> None:
    """Give a drained worker work again, from its next poll on."""
    async with remote() as api:
        found = await api.ask(asked.resume(name))
    name_cells_down(found.value.cells_down)
    say(found.facts, f"{name} gets work again")


@worker.command("list")
async def list_workers(
    queue: OnlyQueue = None,
    polling: Annotated[bool, typer.Option("--polling", help="Only workers that poll now.")] = False,
    limit: Annotated[int, typer.Option(help="Maximum number of workers.")] = 50,
) -> None:
    """List the workers that polled within the last hour, by queue."""
    async with remote() as api:
        found = await api.items(asked.workers(queue, polling or None), limit)
    columns = ("queue", "worker", "polling", "since (UTC)", "last poll (UTC)", "claimed", "wanted", "client", *DRAIN)
    rows = [
        (
            one.queue,
            one.worker_id,
            "yes" if one.polling else "no",
            moment(one.since),
            moment(one.polled_at),
            one.claimed,
            one.wanted,
            one.client,
            one.drained_by and f"{one.drained_by} ({one.status.lower()})",
            one.drain_reason,
        )
        for one in found.value
    ]
    least = ("client", "since (UTC)", "wanted", "last poll (UTC)", "why")
    answer_rows(found.facts, columns, rows, empty="no worker polled within the last hour", least=least)
