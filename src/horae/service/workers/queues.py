"""Queues and their workers for display: who polls, what waits, and which queue has work that nobody takes."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from horae.domain.workers.queue_workers import POLLING_WINDOW, Queue, QueueWorker, latest_of, merge_queues
from horae.service.context import Context
from horae.store.tx import Tx
from horae.store.workers import queue_workers, queues
from horae.store.workers.queues import JOBS_LISTED, ClaimedAttempts

FIRST_WORKER = ("", "")
"""The place before all workers."""


class WorkerStatus(NamedTuple):
    """A worker at a queue, whether it polls now, and how many attempts of the queue it holds."""

    worker: QueueWorker
    is_polling: bool
    claimed: int


async def list_workers(
    ctx: Context, queue: str | None, after: tuple[str, str] | None, limit: int, *, only_polling: bool = False
) -> list[WorkerStatus]:
    """Returns workers that polled within the last hour, by queue and worker id: of one queue, or of all."""

    async def look(tx: Tx) -> tuple[list[QueueWorker], ClaimedAttempts]:
        polled_after = tx.now - POLLING_WINDOW if only_polling else None
        found = await queue_workers.page(tx, ctx.tenant.id, queue, after or FIRST_WORKER, polled_after, limit)
        return found, await queues.claimed(tx, ctx.tenant.id) if found else {}

    answers = await ctx.ask_each(look)
    held = _sum(claimed for _, claimed in answers)
    now = ctx.now()
    return [
        WorkerStatus(one, one.is_polling(now), held[one.queue, one.worker_id])
        for one in latest_of(chain.from_iterable(found for found, _ in answers))[:limit]
    ]


async def list_queues(ctx: Context, after: str | None, limit: int) -> list[Queue]:
    """Returns the queues of the tenant by name: those of its jobs, and others that are polled or have waiting work."""
    found = await ctx.ask_each(lambda tx: queues.names(tx, ctx.tenant.id, after or "", limit))
    return await describe(ctx, sorted(set(chain.from_iterable(found)), key=str.encode)[:limit])


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


def _sum(answers: Iterable[ClaimedAttempts]) -> Counter[tuple[str, str]]:
    total = Counter[tuple[str, str]]()
    for claimed in answers:
        total.update(claimed)
    return total
