"""Routes of queues and of the workers that poll them."""

from typing import Annotated

from fastapi import Path, Query

from horae.api.models.queues import DrainedWorkerView, DrainWorker, QueueView, WorkerView
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.errors import Invalid
from horae.domain.names import LONGEST_NAME
from horae.domain.workers.workers import LONGEST_WORKER, check_worker
from horae.security.signed_texts import NO_CURSOR
from horae.service.context import Context
from horae.service.workers import drains, queues

routes = router("workers")
QueueName = Annotated[
    str | None, Query(min_length=1, max_length=LONGEST_NAME, description="Only the queue with this name.")
]

WorkerId = Annotated[
    str, Path(min_length=1, max_length=LONGEST_WORKER, description="The id of the worker, as it is listed.")
]


@routes.get("/workers")
async def list_workers(
    ctx: Annotated[Context, may("workers.list")],
    paging: Paged,
    queue: QueueName = None,
    polling: Annotated[bool, Query(description="Only workers that poll now.")] = False,
    worker: Annotated[
        str | None, Query(min_length=1, max_length=LONGEST_WORKER, description="Only the worker with this id.")
    ] = None,
) -> Page[WorkerView]:
    """List the workers that polled within the last hour, by queue and id, with the attempts that they hold.

    A new worker is listed some seconds after its first poll.
    """
    if paging.after is not None and len(paging.after) != 2:
        raise Invalid(NO_CURSOR)
    after = None if paging.after is None else (str(paging.after[0]), str(paging.after[1]))
    if worker is not None:
        check_worker(worker)
    found = await queues.list_workers(
        ctx, _printable(queue), after, paging.take, worker_id=worker, only_polling=polling
    )
    return paging.page(found, WorkerView.of, lambda one: [one.worker.queue, one.worker.worker_id])


@routes.post("/workers/{worker:path}/drain")
async def drain_worker(
    ctx: Annotated[Context, may("workers.drain")], worker: WorkerId, asked: DrainWorker
) -> DrainedWorkerView:
    """Drain a worker: no poll gives it new work, and what it holds goes on.

    It stays drained until it is resumed, or until an hour after its last poll. A claim that has begun may reach it.
    """
    return DrainedWorkerView.of(await drains.drain(ctx, worker, asked.reason), ctx.cells_down)


@routes.post("/workers/{worker:path}/resume")
async def resume_worker(ctx: Annotated[Context, may("workers.resume")], worker: WorkerId) -> DrainedWorkerView:
    """Resume a drained worker: its next poll may give it work."""
    return DrainedWorkerView.of(await drains.resume(ctx, worker), ctx.cells_down)


@routes.get("/queues")
async def list_queues(
    ctx: Annotated[Context, may("queues.list")], paging: Paged, name: QueueName = None
) -> Page[QueueView]:
    """List the queues by name: those of jobs and types, and others that are polled or have waiting instances.

    `unattended` is true where instances wait and nobody takes them. With `name` the list has that queue alone, even if
    nothing is known of it.
    """
    named = _printable(name)
    if named is not None:
        return paging.page_of([QueueView.of(one) for one in await queues.describe(ctx, [named])], None)
    found = await queues.list_queues(ctx, paging.after, paging.take)
    return paging.page(found, QueueView.of, lambda one: one.name)


def _printable(name: str | None) -> str | None:
    """Refuse what cannot be the name of a queue."""
    if name is not None and not name.isprintable():
        raise Invalid("a queue's name has printable characters only")
    return name
