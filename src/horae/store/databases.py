"""Whole databases of a server that is ours: made and dropped. Only for tests and trials."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg

from horae.store.statements import sql

if TYPE_CHECKING:
    from horae.store.answers import Connection


async def make(dsn: str, names: Sequence[str], *, template: str | None = None) -> None:
    """Empty databases, or copies of the templates whose names the pattern gives by number."""
    async with _connected(dsn) as connection:
        for number, name in enumerate(names):
            source = template.format(number) if template else "template0"
            await connection.execute(sql("databases/make").format(name=name, template=source))


async def drop(dsn: str, names: Sequence[str]) -> None:
    """Gone, whoever is still connected."""
    async with _connected(dsn) as connection:
        for name in names:
            await connection.execute(sql("databases/drop").format(name=name))


@asynccontextmanager
async def _connected(dsn: str) -> AsyncIterator["Connection"]:
    connection = await asyncpg.connect(dsn, database="postgres")
    try:
        yield connection
    finally:
        await connection.close()
