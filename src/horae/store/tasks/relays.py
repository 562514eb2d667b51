"""The position up to which requested compensations were relayed, and those that were not yet.

Sequence numbers and times give no safe reading order: a transaction with a lower number may commit later, and a reader
that has passed it would lose its events. A relay reads only below the horizon, under which every transaction has ended.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from horae.domain.placement import Run
from horae.store.statements import sql
from horae.store.tx import Tx


class CompensationRow(NamedTuple):
    """A task that the end of an attempt requested."""

    xid: int
    shard: int
    tenant_id: UUID
    job_id: UUID
    instance_id: UUID
    at: datetime
    body: dict[str, Any]


async def horizon(tx: Tx) -> int:
    """The transaction id below which every transaction has ended."""
    return int(await tx.value(sql("tasks/relays/horizon")))


async def positions(tx: Tx, run: Run) -> dict[int, int]:
    """The position of the relay in each shard; shards without a position are missing."""
    return {row["shard_id"]: row["xid"] for row in await tx.rows(sql("tasks/relays/positions"), *run)}


async def move(tx: Tx, reached: Mapping[int, int]) -> None:
    """Record the position of the relay in shards."""
    await tx.rows(sql("tasks/relays/move"), *zip(*sorted(reached.items()), strict=True))


async def end_of_scan(tx: Tx, since: int, until: int, limit: int) -> int:
    """Where a scan over about `limit` events of the cell ends, at a whole transaction; `until` at the latest."""
    end = await tx.value(sql("tasks/relays/end_of_scan"), since, until, limit - 1)
    return until if end is None else int(end)


async def requests(
    tx: Tx, run: Run, without: Sequence[int], since: int, until: int, limit: int
) -> list[CompensationRow]:
    """The requests to relay in a run, except in shards `without`. Transactions are whole, so it may exceed `limit`."""
    return [
        CompensationRow(*row) for row in await tx.rows(sql("tasks/relays/requests"), *run, since, until, limit, without)
    ]
