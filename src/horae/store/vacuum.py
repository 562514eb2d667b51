"""Our own VACUUM on the hot tables: autovacuum comes by the minute, a churning table needs it by the second."""

from typing import TYPE_CHECKING

from horae.store.statements import sql

if TYPE_CHECKING:
    from horae.store.answers import Connection


async def live(connection: "Connection") -> None:
    """The live instances: small, and every row of it dies within seconds."""
    await connection.execute(sql("vacuum/live"))


async def cursors(connection: "Connection") -> None:
    """The cursors: each fire leaves one dead row."""
    await connection.execute(sql("vacuum/cursors"))


async def horizon(connection: "Connection") -> int | None:
    """The oldest transaction someone else still sees: what died since cannot be vacuumed."""
    value = await connection.fetchval(sql("vacuum/horizon"))
    return value if isinstance(value, int) else None
