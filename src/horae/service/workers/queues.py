"""Queues and their workers for display: who polls, what waits, and which queue has work that nobody takes."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

from horae.domain.graphs.graphs import GRAPH_QUEUE
from horae.domain.workers.queue_workers import (
    POLLING_WINDOW,
    DrainStatus,
    Queue,
    QueueWorker,
    UnattendedQueue,
    latest_of,
    merge_queues,
)
from horae.service.context import Context
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx
from horae.store.workers import queue_workers, queues
from horae.store.workers.queue_workers import WorkerFilter
from horae.store.workers.queues import FIRST_PLACE, JOBS_LISTED, ClaimedAttempts, QueuePlace

FIRST_WORKER: Final = ("", "")
"""The place before all workers."""
QUEUES_PER_LOOK: Final = 500
"""Queues that one statement checks for a worker."""


class WorkerStatus(NamedTuple):
    """A worker at a queue, whether it polls now, how many attempts of the queue it holds, and of all queues."""

    worker: QueueWorker
    is_polling: bool
    claimed: int
    claimed_in_all: int

    @property
    def status(self) -> DrainStatus:
        """Whether the worker gets new work."""
        if self.worker.drain is None:
            return DrainStatus.ACTIVE
        return DrainStatus.DRAINING if self.claimed_in_all else DrainStatus.DRAINED


async def list_workers(
    ctx: Context,
    queue: str | None,
    after: tuple[str, str] | None,
    limit: int,
    *,
    worker_id: str | None = None,
    only_polling: bool = False,
) -> list[WorkerStatus]:
    """Returns workers that polled within the last hour, by queue and id: of one queue or of all, or one worker."""

    async def look(tx: Tx) -> tuple[list[QueueWorker], ClaimedAttempts]:
        sought = WorkerFilter(queue, worker_id, tx.now - POLLING_WINDOW if only_polling else None)
        found = await queue_workers.page(tx, ctx.tenant.id, sought, after or FIRST_WORKER, limit)
        return found, await queues.claimed(tx, ctx.tenant.id) if found else {}

    answers = await ctx.ask_each(look)
    held = _sum(claimed for _, claimed in answers)
    in_all = Counter[str]()
    for (_, holder), many in held.items():
        in_all[holder] += many
    now = ctx.now()
    return [
        WorkerStatus(one, one.is_polling(now), held[one.queue, one.worker_id], in_all[one.worker_id])
        for one in latest_of(chain.from_iterable(found for found, _ in answers))[:limit]
    ]


async def list_queues(ctx: Context, after: str | None, limit: int) -> list[Queue]:
    """Returns the queues of the tenant by name: those of its jobs, and others that are polled or have waiting work.

    Runs of graphs wait in a queue from which nodes take them. It is not listed.
    """
    found = await ctx.ask_each(lambda tx: queues.names(tx, ctx.tenant.id, after or "", limit + 1))
    names = set(chain.from_iterable(found)) - {GRAPH_QUEUE}
    return await describe(ctx, sorted(names, key=str.encode)[:limit])


async def describe(ctx: Context, names: list[str]) -> list[Queue]:
    """Returns what the cells know of some queues, in the given order. An unknown queue is empty."""
    if not names:
        return []

    async def look(tx: Tx) -> tuple[list[Queue], ClaimedAttempts]:
        return await queues.describe(tx, ctx.tenant.id, names), await queues.claimed(tx, ctx.tenant.id)

    answers = await ctx.ask_each(look)
    held = Counter[str]()
    for (queue, _), many in _sum(claimed for _, claimed in answers).items():
        held[queue] += many
    parts: dict[str, list[Queue]] = {}
    for part in chain.from_iterable(described for described, _ in answers):
        parts.setdefault(part.name, []).append(part)
    return [merge_queues(name, parts.get(name, []), JOBS_LISTED)._replace(claimed=held[name]) for name in names]


async def find_unattended(store: StoreProtocol, silence: timedelta) -> list[UnattendedQueue]:
    """Returns the queues of all tenants whose work has waited for `silence` and that nobody polled for as long.

    A worker that holds an attempt of the queue in any cell is busy, and the queue is left out. The work of a cell that
    is down is not looked at. The cells must show the rows of all tenants, as they do for a node.
    """
    looked = (await ask_each(store.cells, partial(_unattended_in, silence))).found
    oldest: dict[QueuePlace, UnattendedQueue] = {}
    for one in sorted(chain.from_iterable(looked.values()), key=lambda one: one.oldest):
        oldest.setdefault((one.tenant_id, one.name), one)
    if not oldest:
        return []
    places = list(oldest)
    busy = (await ask_each(store.cells, partial(ask_by_statement, lambda tx: queues.busy(tx, places)))).found
    return [one for place, one in oldest.items() if not any(place in held for held in busy.values())]


async def _unattended_in(silence: timedelta, cell: CellProtocol) -> list[UnattendedQueue]:
    found: list[UnattendedQueue] = []
    place: QueuePlace | None = FIRST_PLACE
    while place is not None:
        async with cell.statement() as tx:
            some, place = await queues.unattended(tx, place, QUEUES_PER_LOOK, silence)
        found += [one for one in some if one.name != GRAPH_QUEUE]
    return found


def _sum(answers: Iterable[ClaimedAttempts]) -> Counter[tuple[str, str]]:
    total = Counter[tuple[str, str]]()
    for claimed in answers:
        total.update(claimed)
    return total
