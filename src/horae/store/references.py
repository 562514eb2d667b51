"""Copies of reference rows: tenants and types, readable in every cell.

The home writes its own copy with the change; upkeep carries it to the other cells within two seconds. A cell works
on with what it has when the home is down.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from horae.store.statements import sql
from horae.store.tx import Tx


class Reference(NamedTuple):
    """One copied row. A higher version replaces a lower one, never the other way."""

    kind: str
    id: UUID
    tenant_id: UUID
    home_shard: int
    name: str
    version: int
    changed_at: datetime
    body: Any


async def publish(tx: Tx, kind: str, id_: UUID, tenant_id: UUID, home_shard: int, name: str, body: object) -> None:
    """Write the home's own copy with the change; every publication raises its version."""
    await tx.run(sql("references/publish"), kind, id_, tenant_id, home_shard, name, tx.now, body)


async def copy(tx: Tx, copies: Sequence[Reference | asyncpg.Record]) -> int:
    """Write copies where they are newer than what is there; returns how many were."""
    return len(await tx.rows(sql("references/copy"), *zip(*copies, strict=True))) if copies else 0


async def find(tx: Tx, tenant_id: UUID, kind: str, name: str) -> Any:
    """The body of the living copy with that name, or None."""
    return await tx.value(sql("references/find"), tenant_id, kind, name)


async def changed(tx: Tx, since: datetime, limit: int) -> list[asyncpg.Record]:
    """What changed at home here since a time, the oldest change first, as rows for `copy`; at least `limit`."""
    return await tx.rows(sql("references/changed"), since, limit)


async def of_tenant(tx: Tx, tenant_id: UUID) -> list[asyncpg.Record]:
    """The tenant's own row, as a row for `copy`; none where it is not at home here."""
    return await tx.rows(sql("references/of_tenant"), tenant_id)


async def named(tx: Tx, tenant_id: UUID, kind: str, name: str) -> list[Reference]:
    """The one of a kind and name that a tenant has at home here, if there is one."""
    return [Reference(*row) for row in await tx.rows(sql("references/named"), tenant_id, kind, name)]


async def widest(tx: Tx, tenant_id: UUID) -> int:
    """How many shards the tasks of the tenant's widest type are spread over; zero when none says so itself."""
    return await tx.value(sql("references/widest"), tenant_id) or 0
