"""Messages that an intake could not make anything of, in their tenant's home shard."""

from uuid import UUID

import asyncpg

from horae.domain.ids import shard_in
from horae.domain.intakes import Parked
from horae.domain.sealed import read
from horae.store.statements import sql
from horae.store.tx import Tx


async def park(tx: Tx, tenant_id: UUID, one: Parked, digest: bytes) -> bool:
    """Keep a message; False when this very one is kept already."""
    facts = (one.id, tenant_id, one.channel_id, one.intake, one.place, digest, one.code, one.reason, one.body, one.at)
    return await tx.value(sql("parked/park"), shard_in(tenant_id), *facts) is not None


async def held(tx: Tx, tenant_id: UUID) -> tuple[int, int]:
    """How many messages of a tenant are parked, and how many bytes they take."""
    row = await tx.row(sql("parked/held"), tenant_id)
    assert row is not None, "a count is always one row"
    return row[0], row[1]


async def page(tx: Tx, tenant_id: UUID, after: UUID, limit: int) -> list[Parked]:
    """A tenant's parked messages, oldest first."""
    return [_parked(row) for row in await tx.rows(sql("parked/page"), tenant_id, after, limit)]


async def find(tx: Tx, tenant_id: UUID, id_: UUID) -> Parked | None:
    """One of them."""
    row = await tx.row(sql("parked/find"), shard_in(tenant_id), id_, tenant_id)
    return None if row is None else _parked(row)


async def drop(tx: Tx, tenant_id: UUID, id_: UUID) -> bool:
    """Take it away; False when it is gone already."""
    return await tx.value(sql("parked/drop"), shard_in(tenant_id), id_, tenant_id) is not None


def _parked(row: asyncpg.Record) -> Parked:
    one = Parked(*row)
    return one._replace(body=read(one.body))
