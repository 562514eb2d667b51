"""VACUUM of the hot tables. Autovacuum runs every minute; a table with many updates needs it every few seconds."""

from typing import TYPE_CHECKING

from horae.store.statements import sql

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection


async def live(connection: "Connection") -> None:
    """Vacuum the live instances: a small table in which every row dies within seconds."""
    await connection.execute(sql("databases/vacuum/live"))


async def cursors(connection: "Connection") -> None:
    """Vacuum the cursors: each fire leaves one dead row."""
    await connection.execute(sql("databases/vacuum/cursors"))


async def horizon(connection: "Connection") -> int | None:
    """The oldest transaction that another session still sees: rows that died since then cannot be vacuumed."""
    value = await connection.fetchval(sql("databases/vacuum/horizon"))
    return value if isinstance(value, int) else None
