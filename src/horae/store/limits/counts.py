"""How many of each thing a tenant has in a cell."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


class Count(NamedTuple):
    """How many there are, whether the named one exists, and how many others are removed but still stored."""

    many: int
    has_it: bool
    removed: int = 0


class CalendarCount(NamedTuple):
    """How many calendars there are, whether the named one exists, and the number of days in it and in the others."""

    many: int
    has_it: bool
    its_days: int
    other_days: int


async def jobs(tx: Tx, tenant_id: UUID) -> int:
    """The tenant's jobs in this cell that are not removed."""
    return int(await tx.value(sql("limits/counts/jobs"), tenant_id))


async def channels(tx: Tx, tenant_id: UUID, kind: str, name: str) -> Count:
    """The channels of a kind, in the tenant's home shard."""
    return _count(await tx.row(sql("limits/counts/channels"), shard_in(tenant_id), tenant_id, kind, name))


async def secrets(tx: Tx, tenant_id: UUID, name: str) -> Count:
    """The secrets, in the tenant's home shard."""
    return _count(await tx.row(sql("limits/counts/secrets"), shard_in(tenant_id), tenant_id, name))


async def keys(tx: Tx, tenant_id: UUID) -> Count:
    """The API keys that are not revoked, in the tenant's home shard."""
    return _count(await tx.row(sql("limits/counts/keys"), shard_in(tenant_id), tenant_id))


async def bindings(tx: Tx, tenant_id: UUID, principal: str) -> Count:
    """The people and groups that have roles, in the tenant's home shard."""
    return _count(await tx.row(sql("limits/counts/bindings"), shard_in(tenant_id), tenant_id, principal))


async def sources(tx: Tx, tenant_id: UUID, job_id: UUID) -> Count:
    """The sources of a tenant's types."""
    return _count(await tx.row(sql("limits/counts/sources"), tenant_id, job_id))


async def calendars(tx: Tx, tenant_id: UUID, name: str) -> CalendarCount:
    """The calendars of a tenant whose home is this cell."""
    row = await tx.row(sql("limits/counts/calendars"), tenant_id, name)
    assert row is not None, "a count is always one row"
    return CalendarCount(*row)


async def usage(tx: Tx, tenant_id: UUID) -> dict[str, int]:
    """What a tenant has in this cell by the name of the bound, and the bytes that it has logged today (`log_bytes`)."""
    return _sums(await tx.rows(sql("limits/counts/usage"), tenant_id, tx.now.date()))


async def usage_at_home(tx: Tx, tenant_id: UUID) -> dict[str, int]:
    """What a tenant has in its home shard, by the name of the bound."""
    return _sums(await tx.rows(sql("limits/counts/usage_at_home"), shard_in(tenant_id), tenant_id))


def _sums(rows: Sequence[asyncpg.Record]) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows:
        found[row["kind"]] = found.get(row["kind"], 0) + row["used"]
    return found


def _count(row: asyncpg.Record | None) -> Count:
    assert row is not None, "a count is always one row"
    return Count(*row)
