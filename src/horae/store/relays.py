"""How far events were relayed, and those that were not yet.

Numbers and times are no order to read events by: a later one may be committed first, and what is passed over is lost.
A relay reads below the horizon, under which every transaction has ended, and goes on from there.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from horae.domain.placement import Run
from horae.store.statements import sql
from horae.store.tx import Tx


class Asked(NamedTuple):
    """A task that the end of an attempt asked for."""

    xid: int
    shard: int
    tenant_id: UUID
    job_id: UUID
    instance_id: UUID
    at: datetime
    body: dict[str, Any]


async def horizon(tx: Tx) -> int:
    """Below this every transaction has ended."""
    return int(await tx.value(sql("relays/horizon")))


async def positions(tx: Tx, run: Run) -> dict[int, int]:
    """Where the relay of each shard goes on; those it never wrote are missing."""
    return {row["shard_id"]: row["xid"] for row in await tx.rows(sql("relays/positions"), *run)}


async def move(tx: Tx, reached: Mapping[int, int]) -> None:
    """Remember how far shards were relayed."""
    await tx.rows(sql("relays/move"), *zip(*sorted(reached.items()), strict=True))


async def end_of_scan(tx: Tx, since: int, until: int, limit: int) -> int:
    """Where a look ends that goes over about `limit` events of the cell, whole transactions; `until` at the latest."""
    end = await tx.value(sql("relays/end_of_scan"), since, until, limit - 1)
    return until if end is None else int(end)


async def asked(tx: Tx, run: Run, without: Sequence[int], since: int, until: int, limit: int) -> list[Asked]:
    """What is to be relayed of a run, but not `without`: at least `limit` if there is as much, whole transactions."""
    return [Asked(*row) for row in await tx.rows(sql("relays/asked"), *run, since, until, limit, without)]
