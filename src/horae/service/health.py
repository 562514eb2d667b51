"""Health as the signals of the last minutes tell it, and who looks after which shards."""

from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Unavailable
from horae.domain.signals import DEGRADED_MS, Mode, Signal, Stretch, added, mode_of, percentile_ms, stretches
from horae.store import leases, shards, signals
from horae.store.cells import Cell, Store
from horae.store.each import ask_by_statement, ask_each
from horae.store.leases import NodeRow
from horae.store.shards import ShardRow
from horae.store.signals import Waiting
from horae.store.tx import Tx
from horae.store.walls import PLATFORM, behind

__all__ = [
    "CellNodes",
    "CellShards",
    "Health",
    "NodeRow",
    "Series",
    "ShardRow",
    "health",
    "nodes",
    "series",
    "shards_of",
]
DELAYS: Final = timedelta(minutes=5)
RATE: Final = timedelta(minutes=10)
COUNTED: Final = timedelta(minutes=3)
MINUTE: Final = timedelta(minutes=1)
P95: Final = 0.95
WORDS: Final = {
    "trigger_delay_p95_ms": "triggerDelayP95Ms",
    "trigger_delay_limit_ms": "triggerDelayLimitMs",
    "counted_until": "countedUntil",
    "success_rate_10m": "successRate10m",
    "retry_backlog": "retryBacklog",
    "dlq_growth_per_min": "dlqGrowthPerMin",
    "fires_10m": "fires10m",
    "cells_down": "cellsDown",
}


class Health(msgspec.Struct, frozen=True, rename=WORDS):
    """How the scheduler does: delays of the last 5 minutes, rates of the last 10, growth of the last that was told.

    It is DEGRADED while the delay is above its limit, or while a cell does not answer. Processes write what they
    counted once a minute: all of it is in here up to `counted_until`, and None means that nothing was written.
    """

    mode: Mode
    trigger_delay_p95_ms: int
    trigger_delay_limit_ms: int
    success_rate_10m: float
    retry_backlog: int
    dlq_growth_per_min: int
    backlog: int
    fires_10m: int
    cells_down: tuple[str, ...] = ()
    counted_until: datetime | None = None


class Seen(NamedTuple):
    """What one cell told."""

    now: datetime
    counted: list[tuple[datetime, Signal]]
    waiting: Waiting

    @property
    def newest(self) -> list[Signal]:
        """What was counted in the last minute that anything was told of, unless that is long ago."""
        last = max((minute for minute, _ in self.counted if minute > self.now - COUNTED), default=None)
        return [signal for minute, signal in self.counted if minute == last]


class Series(NamedTuple):
    """The last hours in stretches of equal length; cells that do not answer are named and left out."""

    step: timedelta
    stretches: list[Stretch]
    cells_down: list[str]


class CellNodes(NamedTuple):
    """The nodes of one cell as of its time; None when it does not answer."""

    cell: str
    now: datetime
    nodes: list[NodeRow] | None


class CellShards(NamedTuple):
    """Some shards of one cell as of its time."""

    cell: str
    now: datetime
    shards: list[ShardRow]


async def health(store: Store, tenant_id: UUID | None = None) -> Health:
    """Of everything, or of what one tenant sees; cells that are down are named, left out, and never normal."""

    async def look(tx: Tx) -> Seen:
        return Seen(
            tx.now,
            await signals.since(tx, tx.now - RATE - MINUTE, tenant_id),
            await signals.waiting(tx, tx.now - COUNTED, tenant_id),
        )

    cells = (behind(store, PLATFORM) if tenant_id is None else store).cells
    seen = await ask_each(cells, partial(ask_by_statement, look))
    told, down = list(seen.found.values()), tuple(seen.down)
    if not told:
        raise Unavailable("no cell answers now; nothing is known of the scheduler's health")
    recent = added([signal for one in told for minute, signal in one.counted if minute > one.now - DELAYS - MINUTE])
    long = added([signal for one in told for _, signal in one.counted])
    grown = added([signal for one in told for signal in one.newest])
    p95 = percentile_ms(recent.delays, P95)
    return Health(
        mode=Mode.DEGRADED if down else mode_of(p95),
        trigger_delay_p95_ms=p95,
        trigger_delay_limit_ms=DEGRADED_MS,
        success_rate_10m=round(long.success_rate, 5),
        retry_backlog=sum(one.waiting.retry_backlog for one in told),
        dlq_growth_per_min=grown.dead,
        backlog=sum(one.waiting.backlog for one in told),
        fires_10m=long.fires,
        cells_down=down,
        counted_until=max((minute for one in told for minute, _ in one.counted), default=None),
    )


async def series(store: Store, tenant_id: UUID | None = None, *, hours: int, points: int) -> Series:
    """What was counted in the last hours, of everything or of one tenant. A stretch has whole minutes, at least one."""
    step = timedelta(minutes=max(1, -(-hours * 60 // points)))
    cells = (behind(store, PLATFORM) if tenant_id is None else store).cells
    last = max(cell.clock.now() for cell in cells if cell.clock.was_read).replace(second=0, microsecond=0)
    many = -(-timedelta(hours=hours) // step)
    since = last + MINUTE - step * many

    async def look(tx: Tx) -> signals.Minutes:
        if tenant_id is None:
            return await signals.minutes(tx, since, last)
        return await signals.minutes_of(tx, since, last, tenant_id)

    seen = await ask_each(cells, partial(ask_by_statement, look))
    if not seen.found:
        raise Unavailable("no cell answers now; nothing is known of the last hours")
    counted = [one for told in seen.found.values() for one in told]
    return Series(step, stretches(counted, since, step, many), seen.down)


async def nodes(store: Store) -> list[CellNodes]:
    """Every node of every cell, with how many shards are in its name."""
    found = (await ask_each(store.cells, partial(ask_by_statement, leases.nodes))).found
    return [CellNodes(cell.name, _now(store, cell), found.get(cell)) for cell in store.cells]


async def shards_of(
    store: Store, *, after: int = -1, limit: int = 500, cells_down: set[str] | None = None
) -> list[CellShards]:
    """The shards after one, of cells that answer, with their leases; a page is the lowest `limit` of all together."""

    async def look(tx: Tx) -> list[ShardRow]:
        return await shards.listing(tx, after, limit)

    found, down = await ask_each(store.cells, partial(ask_by_statement, look))
    if not found:
        raise Unavailable("no cell answers now; nothing is known of its shards")
    if cells_down is not None:
        cells_down.update(down)
    kept = set(sorted(row.shard for rows in found.values() for row in rows)[:limit])
    return [
        CellShards(cell.name, cell.clock.now(), [row for row in rows if row.shard in kept])
        for cell, rows in found.items()
    ]


def _now(store: Store, cell: Cell) -> datetime:
    """A cell's time; of one that was down from the beginning it is not known, and another's is near."""
    return (cell.clock if cell.clock.was_read else store.clock).now()
