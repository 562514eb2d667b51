"""Results: what attempts returned, in rows of their own beside the ended instances."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae.domain.encryption.encrypted_values import read
from horae.domain.ids import creation_time
from horae.store.statements import sql
from horae.store.tx import Tx

CLOCK_ROOM: Final = timedelta(hours=1)
"""How much earlier than its id says an instance may have ended: clocks of cells and processes differ."""


class ResultRow(NamedTuple):
    """The result of one instance, encrypted."""

    shard: int
    instance_id: UUID
    tenant_id: UUID
    body: Any


async def write(tx: Tx, rows: Sequence[ResultRow]) -> None:
    """Write results in the transaction that ends their instances."""
    await tx.run(sql("instances/results/write"), *zip(*rows, strict=True), tx.now)


async def of_instances(tx: Tx, tenant_id: UUID, shard: int, ids: Collection[UUID]) -> dict[UUID, Any]:
    """The results of instances of one shard that ended in this cell, encrypted; those without one are missing."""
    if not ids:
        return {}
    since = min(map(creation_time, ids)) - CLOCK_ROOM  # no older day is read
    rows = await tx.rows(sql("instances/results/of_instances"), tenant_id, shard, list(ids), since)
    return {row["instance_id"]: read(row["body"]) for row in rows}
