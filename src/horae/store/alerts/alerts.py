"""Alerts: a row for each group that a rule found in this cell. The rows belong to their cell."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.alerts.alerts import Alert, AlertFilter
from horae.domain.alerts.rules import SHORTEST_REPEAT_S
from horae.domain.ids import shard_in
from horae.store.reading import read_rows
from horae.store.statements import sql
from horae.store.tx import Tx

QUIET = timedelta(seconds=SHORTEST_REPEAT_S)


class OpenGroup(NamedTuple):
    """The group of an open alert."""

    tenant_id: UUID
    rule: str
    kind: str
    group_key: str
    job_id: UUID | None


async def open_groups(tx: Tx) -> list[OpenGroup]:
    """Every open alert of this cell."""
    return [OpenGroup(*row) for row in await tx.rows(sql("alerts/alerts/open_groups"))]


async def record(tx: Tx, rows: Sequence[dict[str, Any]]) -> None:
    """Open an alert for each group, or add to the open one."""
    if rows:
        await tx.run(sql("alerts/alerts/record"), rows, tx.now, QUIET)


async def resolve(tx: Tx, unchecked: Sequence[tuple[UUID, str]]) -> list[Alert]:
    """Resolve what was not seen for its time; returns the alerts as they are now, without unreadable ones.

    `unchecked` are the tenants and kinds whose faults were not looked for: their alerts stay open.
    """
    tenant_ids, kinds = [one[0] for one in unchecked], [str(one[1]) for one in unchecked]
    return _readable(await tx.rows(sql("alerts/alerts/resolve"), tx.now, tenant_ids, kinds))


async def unsent(tx: Tx, tenant_ids: Sequence[UUID], limit: int) -> list[Alert]:
    """Open alerts of tenants whose next message is due, without unreadable ones."""
    return _readable(await tx.rows(sql("alerts/alerts/unsent"), tx.now, tenant_ids, limit))


async def mark_messaged(tx: Tx, rows: Sequence[dict[str, Any]]) -> None:
    """Record that messages of alerts were written: `id`, `sequence`, `announced` and `next_message_at`."""
    if rows:
        await tx.run(sql("alerts/alerts/mark_messaged"), rows, tx.now)


async def page(tx: Tx, tenant_id: UUID, before: tuple[datetime, UUID], wanted: AlertFilter, limit: int) -> list[Alert]:
    """A tenant's alerts in this cell, newest first."""
    return [_alert(row) for row in await tx.rows(sql("alerts/alerts/page"), tenant_id, *before, *wanted, limit)]


async def find(tx: Tx, tenant_id: UUID, id_: UUID) -> Alert | None:
    """An alert by its id."""
    row = await tx.row(sql("alerts/alerts/find"), tenant_id, id_)
    return None if row is None else _alert(row)


async def acknowledge(tx: Tx, tenant_id: UUID, id_: UUID, actor: str) -> Alert | None:
    """Record that somebody takes care of an alert; None when nothing was changed."""
    row = await tx.row(sql("alerts/alerts/acknowledge"), shard_in(id_), tenant_id, id_, actor, tx.now)
    return None if row is None else _alert(row)


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Delete alerts that were resolved before a time, with their messages, at most `limit`; returns how many."""
    return len(await tx.rows(sql("alerts/alerts/forget"), before, limit))


def _readable(rows: Sequence[asyncpg.Record]) -> list[Alert]:
    return [alert for _, alert in read_rows("alert", rows, _alert)]


def _alert(row: asyncpg.Record) -> Alert:
    return msgspec.convert(dict(row), Alert, strict=False)
