"""Messages that an intake could not process, in the home shard of their tenant."""

from uuid import UUID

import asyncpg

from horae.domain.encryption.encrypted_values import read
from horae.domain.events.intakes import ParkedMessage
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


async def park(tx: Tx, tenant_id: UUID, one: ParkedMessage, digest: bytes) -> bool:
    """Store a message; False when the same message is stored already."""
    facts = (one.id, tenant_id, one.channel_id, one.intake, one.place, digest, one.code, one.reason, one.body, one.at)
    return await tx.value(sql("events/parked_messages/park"), shard_in(tenant_id), *facts) is not None


async def usage(tx: Tx, tenant_id: UUID) -> tuple[int, int]:
    """How many messages of a tenant are parked, and how many bytes they take."""
    row = await tx.row(sql("events/parked_messages/usage"), tenant_id)
    assert row is not None, "a count is always one row"
    return row[0], row[1]


async def page(tx: Tx, tenant_id: UUID, after: UUID, limit: int) -> list[ParkedMessage]:
    """A tenant's parked messages, oldest first."""
    return [_parked(row) for row in await tx.rows(sql("events/parked_messages/page"), tenant_id, after, limit)]


async def find(tx: Tx, tenant_id: UUID, id_: UUID) -> ParkedMessage | None:
    """One parked message."""
    row = await tx.row(sql("events/parked_messages/find"), shard_in(tenant_id), id_, tenant_id)
    return None if row is None else _parked(row)


async def drop(tx: Tx, tenant_id: UUID, id_: UUID) -> bool:
    """Delete a parked message; False when it is already deleted."""
    return await tx.value(sql("events/parked_messages/drop"), shard_in(tenant_id), id_, tenant_id) is not None


def _parked(row: asyncpg.Record) -> ParkedMessage:
    one = ParkedMessage(*row)
    return one._replace(body=read(one.body))
