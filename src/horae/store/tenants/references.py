"""Copies of reference rows (tenants and types), readable in every cell.

The home cell writes its own copy in the transaction of the change. Upkeep carries it to the other cells within two
seconds. While the home cell is down, a cell continues with the copies it has.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from horae.store.statements import sql
from horae.store.tx import Tx


class Reference(NamedTuple):
    """One copied row. A copy is replaced only by one with a higher version."""

    kind: str
    id: UUID
    tenant_id: UUID
    home_shard: int
    name: str
    version: int
    changed_at: datetime
    body: Any


async def publish(tx: Tx, kind: str, id_: UUID, tenant_id: UUID, home_shard: int, name: str, body: object) -> None:
    """Write the home cell's own copy in the transaction of the change; each call increases its version."""
    await tx.run(sql("tenants/references/publish"), kind, id_, tenant_id, home_shard, name, tx.now, body)


async def copy(tx: Tx, copies: Sequence[Reference | asyncpg.Record]) -> int:
    """Write the copies that are newer than the stored ones; returns how many."""
    return len(await tx.rows(sql("tenants/references/copy"), *zip(*copies, strict=True))) if copies else 0


async def find(tx: Tx, tenant_id: UUID, kind: str, name: str) -> Any:
    """The body of the copy with that name; None if there is none or it is removed."""
    return await tx.value(sql("tenants/references/find"), tenant_id, kind, name)


async def changed(tx: Tx, since: datetime, limit: int) -> list[asyncpg.Record]:
    """The rows of this cell's own shards that changed since a time, oldest change first, as rows for `copy`.

    Changes of the same moment stay together, so there may be more rows than `limit`.
    """
    return await tx.rows(sql("tenants/references/changed"), since, limit)


async def of_tenant(tx: Tx, tenant_id: UUID) -> list[asyncpg.Record]:
    """The tenant's own row, as a row for `copy`; empty if its home is another cell."""
    return await tx.rows(sql("tenants/references/of_tenant"), tenant_id)


async def named(tx: Tx, tenant_id: UUID, kind: str, name: str) -> list[Reference]:
    """The row of a kind and name of a tenant, if its home is this cell."""
    return [Reference(*row) for row in await tx.rows(sql("tenants/references/named"), tenant_id, kind, name)]


async def widest(tx: Tx, tenant_id: UUID) -> int:
    """The largest number of shards that a type of the tenant is spread over; zero if no type sets one."""
    return await tx.value(sql("tenants/references/widest"), tenant_id) or 0
