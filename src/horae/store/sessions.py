"""Sessions of people: at home in their tenant's home shard. Only the doors read them."""

from datetime import timedelta
from typing import Final
from uuid import UUID

import asyncpg

from horae.domain.ids import shard_in
from horae.domain.people import Session
from horae.store.statements import sql
from horae.store.tx import Tx

KEPT: Final = timedelta(days=1)
"""How long one that is over stays: longer than a login may take, for no login opens two."""


async def create(tx: Tx, session: Session, login: bytes | None) -> bool:
    """Write a new session; False when its login was used before, or the shard is closed."""
    args = (shard_in(session.id), session.id, session.tenant_id, session.digest, session.principal, session.name)
    more = (session.groups, session.key_id, session.created_at, session.expires_at, session.idle_s, login)
    return await tx.value(sql("sessions/create"), *args, *more) is not None


async def find(tx: Tx, id_: UUID) -> Session | None:
    """The session with that id, whatever became of it."""
    row = await tx.row(sql("sessions/find"), shard_in(id_), id_)
    return None if row is None else _session(row)


async def page(tx: Tx, tenant_id: UUID, after: UUID, limit: int) -> list[Session]:
    """The sessions of a tenant that may still be good, oldest first."""
    return [_session(row) for row in await tx.rows(sql("sessions/page"), tenant_id, after, tx.now, limit)]


async def end(tx: Tx, tenant_id: UUID, id_: UUID) -> str | None:
    """End a session for ever, and say whose it was; None when there is none to end."""
    found: str | None = await tx.value(sql("sessions/end"), shard_in(id_), id_, tenant_id, tx.now)
    return found


async def end_all(tx: Tx, principal: str) -> int:
    """End every session of a principal in this cell; returns how many there were."""
    return len(await tx.rows(sql("sessions/end_all"), principal, tx.now))


async def touch(tx: Tx, id_: UUID) -> None:
    """Note that a session was used, to the minute."""
    await tx.run(sql("sessions/touch"), shard_in(id_), id_, tx.now)


async def forget(tx: Tx, limit: int) -> int:
    """Remove sessions that have been over for a day, at most so many; returns how many went."""
    return len(await tx.rows(sql("sessions/forget"), tx.now - KEPT, limit))


def _session(row: asyncpg.Record) -> Session:
    return Session(**{**row, "groups": tuple(row["groups"])})
