"""Creates and drops whole databases of a server of our own. Only for tests and trials."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg

from horae.store.statements import sql

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection


async def make(dsn: str, names: Sequence[str], *, template: str | None = None) -> None:
    """Create empty databases, or copies of templates: `template` is a pattern that takes the number of the database."""
    async with _connection(dsn) as connection:
        for number, name in enumerate(names):
            source = template.format(number) if template else "template0"
            await connection.execute(sql("databases/databases/make").format(name=name, template=source))


async def drop(dsn: str, names: Sequence[str]) -> None:
    """Drop databases, even if sessions are connected."""
    async with _connection(dsn) as connection:
        for name in names:
            await connection.execute(sql("databases/databases/drop").format(name=name))


@asynccontextmanager
async def _connection(dsn: str) -> AsyncIterator["Connection"]:
    connection = await asyncpg.connect(dsn, database="postgres")
    try:
        yield connection
    finally:
        await connection.close()
