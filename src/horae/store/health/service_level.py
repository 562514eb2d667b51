"""Service levels: counts of due times in time and late, by minute, hour and day; and what is overdue unfired."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from horae.domain.health.service_level import IN_TIME_LIMIT, KEPT, SPANS, LevelCount, ServiceLevel, begin_of
from horae.domain.health.signals import NOBODY
from horae.domain.instances.instances import Priority
from horae.store.health.level_counts import LevelRow
from horae.store.statements import sql
from horae.store.tx import Tx

MAX_OVERDUE: Final = 100_000
"""Overdue cursors, and overdue instances, are counted up to this number for each priority."""


async def write(tx: Tx, rows: Sequence[LevelRow]) -> None:
    """Add counts."""
    await tx.run(sql("health/service_level/write"), *zip(*rows, strict=True), *_kept(tx.now))


async def forget(tx: Tx, limit: int) -> int:
    """Delete old counts, at most `limit`; returns how many."""
    return len(await tx.rows(sql("health/service_level/forget"), *_kept(tx.now), limit))


async def read(tx: Tx, tenant_id: UUID | None, objective: float) -> dict[Priority, ServiceLevel]:
    """The service level of one tenant or of all in this cell, by priority."""
    since = [begin_of(tx.now - span, step) for span, step in SPANS.values()]
    steps = [_minutes(step) for _, step in SPANS.values()]
    rows = await tx.rows(sql("health/service_level/read"), tenant_id or NOBODY, list(SPANS), steps, since)
    late = await overdue(tx, tenant_id)
    return {
        priority: ServiceLevel(
            objective,
            {row["span"]: LevelCount(row["in_time"], row["late"]) for row in rows if row["priority"] == priority},
            late.get(priority, 0),
        )
        for priority in Priority
    }


async def overdue(tx: Tx, tenant_id: UUID | None) -> dict[int, int]:
    """How many cursors and instances wait for longer than fires may in shards that no living node holds, by priority.

    A cursor counts once, however many of its fires are due.
    """
    args = (tx.now, tx.now - IN_TIME_LIMIT, tenant_id, MAX_OVERDUE)
    return {row["priority"]: row["overdue"] for row in await tx.rows(sql("health/service_level/overdue"), *args)}


def _kept(now: datetime) -> tuple[list[int], list[datetime]]:
    """The steps in minutes, and since when the counts of each are kept."""
    return [_minutes(step) for step in KEPT], [begin_of(now - kept, step) for step, kept in KEPT.items()]


def _minutes(step: timedelta) -> int:
    return step // timedelta(minutes=1)
