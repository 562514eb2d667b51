"""Drains workers: a drained worker gets no new work from any poll, and what it holds goes on."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, NamedTuple

from horae.domain.errors import NotFound, ShardClosed
from horae.domain.ids import shard_in
from horae.domain.workers.workers import check_worker
from horae.service.audit.audit import record
from horae.service.context import Context
from horae.service.workers.queues import WorkerStatus, list_workers
from horae.store.connections.each_cell import ask_each
from horae.store.tx import Tx
from horae.store.workers import drains

QUEUES_OF_WORKER: Final = 1000
"""Queues of one worker that are read."""


class DrainedWorker(NamedTuple):
    """A worker after a person drained or resumed it, with the queues that it polls, one at least."""

    worker_id: str
    queues: list[WorkerStatus]

    @property
    def claimed(self) -> int:
        """The attempts that it holds."""
        return self.queues[0].claimed_in_all


async def drain(ctx: Context, worker_id: str, reason: str) -> DrainedWorker:
    """Give a worker no new work. A claim that has begun may still reach it; what it holds goes on."""
    return await _change(
        ctx,
        worker_id,
        partial(drains.write, tenant_id=ctx.tenant.id, worker_id=worker_id, drained_by=ctx.actor, reason=reason),
        "worker.drained",
        {"reason": reason},
    )


async def resume(ctx: Context, worker_id: str) -> DrainedWorker:
    """Give a drained worker work again, from its next poll on."""
    write = partial(drains.remove, tenant_id=ctx.tenant.id, worker_id=worker_id)
    return await _change(ctx, worker_id, write, "worker.resumed", {})


async def _change(
    ctx: Context, worker_id: str, write: Callable[[Tx, int | None], Awaitable[object]], action: str, detail: object
) -> DrainedWorker:
    """Write the mark of a worker into every cell that answers.

    1. The home cell of the tenant gets it in one transaction with the audit row: no change is without its record.
    2. Then the other cells get it. One that is down gets it when the request is repeated. A claim asks every cell, and
       one mark is enough.
    """
    check_worker(worker_id)
    await _find(ctx, worker_id)
    shard = shard_in(ctx.tenant.id)

    async def write_and_record(tx: Tx) -> None:
        changed = await write(tx, shard)
        if changed is None:
            raise ShardClosed("the tenant's home shard is moving; nothing was changed")
        if changed is not False:
            await record(ctx, tx, action, shard, worker_id, detail)

    await ctx.store.run(shard, write_and_record)
    home = ctx.store.cell(shard)
    others = [cell for cell in ctx.store.cells if cell is not home]
    ctx.cells_down.update((await ask_each(others, lambda cell: cell.run(lambda tx: write(tx, None)))).down)
    return await _find(ctx, worker_id)


async def _find(ctx: Context, worker_id: str) -> DrainedWorker:
    found = await list_workers(ctx, None, None, QUEUES_OF_WORKER, worker_id=worker_id)
    if not found:
        raise NotFound("no worker of this id has polled within the last hour; a new one is listed after some seconds")
    return DrainedWorker(worker_id, found)
