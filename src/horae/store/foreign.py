"""Tables of another system in its own PostgreSQL, copied out as they are. Nothing is ever written there."""

import io
from collections.abc import Sequence

import asyncpg

from horae.domain.errors import NotFound
from horae.store.line import CONNECT


async def tables(dsn: str, names: Sequence[str]) -> dict[str, str]:
    """Those of the named tables that are there, each as comma separated values under a line of names."""
    connection = await asyncpg.connect(dsn, timeout=CONNECT, server_settings={"default_transaction_read_only": "on"})
    try:
        found = {}
        for name in names:
            copied = io.BytesIO()
            try:
                await connection.copy_from_table(name, output=copied, format="csv", header=True, null="\\N")
            except asyncpg.UndefinedTableError:
                continue
            found[name] = copied.getvalue().decode()
    finally:
        await connection.close()
    if not found:
        raise NotFound(f"none of the tables {', '.join(names)} is in that database, or not on its search path")
    return found
