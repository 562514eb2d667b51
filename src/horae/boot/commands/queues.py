"""`horae queue …` and `horae worker …`."""

from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.queues import QueueView, WorkerView
from horae.boot.commands.schedules import moment
from horae.boot.output import answer
from horae.boot.session import caller, out
from horae.boot.verbs import Verbs
from horae.service.workers import queues

app = Verbs(no_args_is_help=True)
worker = Verbs(no_args_is_help=True)
OnlyQueue = Annotated[str | None, typer.Option(help="Only the workers of this queue.")]


@app.callback()
def queueing() -> None:
    """Queues: what waits in them, and who polls them."""


@worker.callback()
def working() -> None:
    """Workers: which processes poll which queues."""


@app.command("list")
async def list_queues(limit: Annotated[int, typer.Option(help="Maximum number of queues.")] = 50) -> None:
    """List the queues by name; a queue in which work waits that nobody takes is marked `unattended`."""
    async with caller() as ctx:
        found = [QueueView.of(queue) for queue in await queues.list_queues(ctx, None, limit)]
    table = Table("queue", "waiting", "oldest (UTC)", "claimed", "polling", "last poll (UTC)", "jobs", "")
    for one in found:
        waiting = f"{one.waiting}+" if one.more_waiting else str(one.waiting)
        figures = (waiting, moment(one.oldest_waiting_since), str(one.claimed), str(one.polling))
        table.add_row(
            one.name, *figures, moment(one.polled_at), ", ".join(one.jobs), "unattended" if one.unattended else ""
        )
    answer(found, lambda: out.print(table))


@worker.command("list")
async def list_workers(
    queue: OnlyQueue = None,
    polling: Annotated[bool, typer.Option("--polling", help="Only workers that poll now.")] = False,
    limit: Annotated[int, typer.Option(help="Maximum number of workers.")] = 50,
) -> None:
    """List the workers that polled within the last hour, by queue."""
    async with caller() as ctx:
        listed = await queues.list_workers(ctx, queue, None, limit, only_polling=polling)
        found = [WorkerView.of(one) for one in listed]
    table = Table("queue", "worker", "polling", "since (UTC)", "last poll (UTC)", "claimed", "wanted", "client")
    for one in found:
        times = (moment(one.since), moment(one.polled_at))
        figures = (str(one.claimed), str(one.wanted))
        table.add_row(one.queue, one.worker_id, "yes" if one.polling else "no", *times, *figures, one.client or "")
    answer(found, lambda: out.print(table))
