"""Attempts that are done and of which nothing else is to be said, many at a time: as most of what workers report.

What this process handed out itself is ended by one statement, without a look at its row before. Whatever that does not
find, and whatever is not remembered, goes the way of every report (`horae.service.workers`).
"""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Protocol
from uuid import UUID

from horae.domain.errors import ShardClosed
from horae.domain.signals import Ending
from horae.domain.workers import Verdict
from horae.runtime.telemetry import log
from horae.service.context import Context
from horae.service.handed import Kept
from horae.store import instances
from horae.store.cells import Cell
from horae.store.tx import BAD_ROW, GONE, Tx

MILLISECOND: Final = timedelta(milliseconds=1)
LONGEST: Final = 2**31 - 1  # milliseconds that a column can hold


class Done(Protocol):
    """What a worker says of an attempt."""

    @property
    def instance_id(self) -> str:
        """As it is shown."""

    @property
    def attempt(self) -> int:
        """Which one."""

    @property
    def token(self) -> str:
        """What proves that it is theirs."""


async def succeed(ctx: Context, done: Sequence[Done]) -> list[Verdict | None]:
    """End what is remembered, item by item: done, or not now; None for what has to be asked of its row."""
    tenant_id, recall = ctx.tenant.id, ctx.handed.recall
    kept = [recall(tenant_id, one.instance_id, one.attempt, one.token) for one in done]
    verdicts: dict[UUID, Verdict] = {}
    for cell, here in _by_cell(ctx, [one for one in kept if one is not None and one.alone]).items():
        try:
            verdicts |= dict.fromkeys(await _end(ctx, cell, here), Verdict.DONE)
        except GONE:  # whether it was written is unknown: said again, its row will tell
            log.warning("finish.cell_down", cell=cell.name)
            verdicts |= dict.fromkeys((one.ran.id for one in here), Verdict.NOT_NOW)
        except BAD_ROW:
            log.warning("finish.bad_row", cell=cell.name)
    return [None if one is None else verdicts.get(one.ran.id) for one in kept]


def _by_cell(ctx: Context, kept: list[Kept]) -> dict[Cell, list[Kept]]:
    """Where they lie. In a lone cell nobody has to be asked: the statement's own fence tells."""
    if len(ctx.store.cells) == 1:
        return {ctx.store.cells[0]: kept} if kept else {}
    found: dict[Cell, list[Kept]] = {}
    for one in kept:
        try:
            found.setdefault(ctx.store.cell(one.ran.shard), []).append(one)
        except ShardClosed:
            continue
    return found


async def _end(ctx: Context, cell: Cell, kept: list[Kept]) -> set[UUID]:
    """The ids of those that were still theirs, in the order that every batch has: none waits for another's locks."""
    kept.sort(key=lambda one: (one.ran.shard, one.ran.id))

    async def work(tx: Tx) -> set[UUID]:
        took = {since: min((tx.now - since) // MILLISECOND, LONGEST) for since in {one.since for one in kept}}
        return await instances.succeed(tx, [(one.ran, took[one.since]) for one in kept])

    written = await cell.run_statements(work)
    classes = Counter((one.ran.priority, one.ran.lane) for one in kept if one.ran.id in written)
    for (priority, lane), many in classes.items():
        cell.tally.ended(ctx.tenant.id, priority, lane, Ending.SUCCESS, many)
    return written
