"""The sizes of a cell: of its database, its days and its hot tables, and the last measurement of them."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import asyncpg
import msgspec

from horae.domain.health.growth import DaySize, Growth, TableSize
from horae.store.statements import sql
from horae.store.tx import Tx

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection

HOT_TABLES: Final = ("instance_live", "job_cursor", "task_key", "dead_letter", "quota_bucket")
"""Tables whose rows change all the time."""


async def database_bytes(connection: "Connection") -> int:
    """The size of the database on disk, without WAL."""
    return int(await connection.fetchval(sql("health/growth/database_bytes")))


async def days(connection: "Connection", now: datetime) -> tuple[DaySize, ...]:
    """The days up to today that have a table, oldest first. A day without rows has no bytes."""
    return tuple(DaySize(*row) for row in await connection.fetch(sql("health/growth/days"), now))


async def tables(connection: "Connection") -> tuple[TableSize, ...]:
    """The hot tables."""
    return tuple(TableSize(*row) for row in await connection.fetch(sql("health/growth/tables"), HOT_TABLES))


async def write(connection: "Connection", growth: Growth) -> None:
    """Replace the last measurement."""
    facts = msgspec.json.encode(growth).decode()
    await connection.execute(sql("health/growth/write"), growth.measured_at, facts)


async def read(tx: Tx) -> Growth | None:
    """The last measurement; None before the first one, and before the migration that makes its table."""
    try:
        facts: Any = await tx.value(sql("health/growth/read"))
    except asyncpg.UndefinedTableError:
        return None
    return None if facts is None else msgspec.json.decode(facts, type=Growth)
