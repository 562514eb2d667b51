"""The audit log: who changed a definition, a permission or a decision, written in the transaction of the change."""

from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


class Entry(NamedTuple):
    """One audit row."""

    at: datetime
    id: UUID
    actor: str
    action: str
    resource: str
    detail: Any


class AuditFilter(NamedTuple):
    """A filter for entries: not older than `since`, before `until`. A field that is None matches any value."""

    since: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    until: datetime = datetime(9999, 1, 1, tzinfo=UTC)
    actor: str | None = None
    action: str | None = None
    resource: str | None = None


async def append(
    tx: Tx, shard: int, id_: UUID, tenant_id: UUID, *, actor: str, action: str, resource: str, detail: object
) -> None:
    """Record a change; the statement of the change has passed the fence."""
    await tx.run(sql("audit/audit/append"), tx.now, shard, id_, tenant_id, actor, action, resource, detail)


async def page(tx: Tx, tenant_id: UUID, before: tuple[datetime, UUID], sought: AuditFilter, limit: int) -> list[Entry]:
    """The audit entries of a tenant in this cell, newest first."""
    rows = await tx.rows(sql("audit/audit/page"), tenant_id, *before, *sought, limit)
    return [Entry(*row) for row in rows]
