"""Browser sessions, in the home shard of their tenant. Only the API server reads them."""

from datetime import timedelta
from typing import Final
from uuid import UUID

import asyncpg

from horae.domain.identity.people import Session
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx

EXPIRED_SESSIONS_KEPT: Final = timedelta(days=1)
"""How long an expired session is kept. This is longer than a login may take, so that no login opens two sessions."""


async def create(tx: Tx, session: Session, login: bytes | None) -> bool:
    """Insert a new session; False when its login was used before, or the shard is closed."""
    args = (shard_in(session.id), session.id, session.tenant_id, session.digest, session.principal, session.name)
    more = (session.groups, session.key_id, session.created_at, session.expires_at, session.idle_s, login)
    return await tx.value(sql("identity/sessions/create"), *args, *more) is not None


async def find(tx: Tx, id_: UUID) -> Session | None:
    """The session with that id, in any state."""
    row = await tx.row(sql("identity/sessions/find"), shard_in(id_), id_)
    return None if row is None else _session(row)


async def page(tx: Tx, tenant_id: UUID, after: UUID, limit: int) -> list[Session]:
    """The sessions of a tenant that have neither ended nor expired, oldest first."""
    return [_session(row) for row in await tx.rows(sql("identity/sessions/page"), tenant_id, after, tx.now, limit)]


async def end(tx: Tx, tenant_id: UUID, id_: UUID) -> str | None:
    """End a session; returns its principal, or None when there is no open session with that id."""
    found: str | None = await tx.value(sql("identity/sessions/end"), shard_in(id_), id_, tenant_id, tx.now)
    return found


async def end_all(tx: Tx, principal: str) -> int:
    """End every session of a principal in this cell; returns how many."""
    return len(await tx.rows(sql("identity/sessions/end_all"), principal, tx.now))


async def touch(tx: Tx, id_: UUID) -> None:
    """Record that a session was used. At most one write a minute."""
    await tx.run(sql("identity/sessions/touch"), shard_in(id_), id_, tx.now)


async def forget(tx: Tx, limit: int) -> int:
    """Delete sessions that expired more than a day ago, at most `limit`; returns how many."""
    return len(await tx.rows(sql("identity/sessions/forget"), tx.now - EXPIRED_SESSIONS_KEPT, limit))


def _session(row: asyncpg.Record) -> Session:
    return Session(**{**row, "groups": tuple(row["groups"])})
