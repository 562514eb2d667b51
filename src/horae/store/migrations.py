"""Migrations: numbered plain SQL files, applied to every cell under an advisory lock.

Each file runs in one transaction with a short `lock_timeout`: a migration that would have to wait for a long reader
gives up, lets the traffic pass and tries again. A file that begins with `-- without transaction` runs statement by
statement, so that an index of a large table can be built CONCURRENTLY without blocking anything. Such a file first
drops what an interrupted try may have left. Each applied file is recorded with its checksum, and a file that changed
afterwards is refused.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from hashlib import sha256
from importlib import resources
from typing import Final, NamedTuple

import asyncpg
from asyncpg.connect_utils import SessionAttribute

from horae.domain.errors import Conflict
from horae.domain.placement import deal_to_cells
from horae.runtime.settings import CellSettings
from horae.store.connections.direct_connection import SESSION
from horae.store.databases import day_indexes, partitions, roles
from horae.store.nodes import shards
from horae.store.statements import sql
from horae.store.tx import Tx

TRIES: Final = 120
LOCK_RETRY_PAUSE_S: Final = 0.5
STATEMENT_TIMEOUT_S: Final = 600.0
WITHOUT_TRANSACTION: Final = "-- without transaction"


class Migration(NamedTuple):
    """One numbered file."""

    number: int
    name: str
    up: str
    checksum: str

    @property
    def statements(self) -> list[str] | None:
        """The statements that run one by one outside a transaction; None if the file runs as one transaction."""
        if not self.up.lstrip().startswith(WITHOUT_TRANSACTION):
            return None
        return split_statements(self.up)


def all_migrations() -> list[Migration]:
    """The migrations of this release, in order."""
    folder = resources.files("horae.store").joinpath("migrations")
    found = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            text = file.read_text()
            up = text.partition("-- migrate:up")[2].partition("-- migrate:down")[0]
            checksum = sha256(text.encode()).hexdigest()
            found.append(Migration(int(file.name[:4]), file.name.removesuffix(".sql"), up, checksum))
    return found


def split_statements(text: str) -> list[str]:
    """The statements of a text. A statement ends with a line that ends with a semicolon, outside of `$$ … $$`."""
    statements, in_body = [""], False
    for line in text.splitlines(keepends=True):
        statements[-1] += line
        in_body ^= line.count("$$") % 2 == 1
        if line.endswith(";\n") and not in_body:
            statements.append("")
    return [statement for statement in statements if statement.strip()]


async def migrate(cells: list[CellSettings], environment: str) -> list[str]:
    """Bring every cell up to this release and give new cells their shards; returns what was applied in which cell."""
    applied = []
    opened: list[asyncpg.Connection[asyncpg.Record]] = []
    try:
        for cell in cells:
            connection = await asyncpg.connect(
                cell.dsn, timeout=3, server_settings=SESSION, target_session_attrs=SessionAttribute.read_write
            )
            opened.append(connection)
            applied += [f"{cell.name}: {name}" for name in await apply(connection, cell.name, environment)]
        await _deal_shards(opened)
    finally:
        for connection in opened:
            await connection.close()
    return applied


async def apply(connection: "asyncpg.Connection[asyncpg.Record]", name: str, environment: str) -> list[str]:
    """Create the missing roles, apply the missing migrations to one cell, and create its partitions ahead."""
    while not await connection.fetchval(sql("migrations/lock")):  # noqa: ASYNC110 — another process holds it
        await asyncio.sleep(LOCK_RETRY_PAUSE_S)
    try:
        await roles.prepare(connection)
        await connection.execute(sql("migrations/prepare"))
        rows = await connection.fetch(sql("migrations/applied"))
        done = {row["number"]: row["checksum"] for row in rows}
        news = []
        for migration in all_migrations():
            if migration.number not in done:
                await _apply_one(connection, migration)
                news.append(migration.name)
            elif done[migration.number] != migration.checksum:
                raise Conflict(f"migration {migration.name} was changed after it was applied")
        await connection.execute(sql("migrations/name"), name, environment)
        now = datetime.now(UTC)  # only a first supply; upkeep uses the cell's own clock
        await partitions.stock(lambda: nullcontext(Tx(connection, now, STATEMENT_TIMEOUT_S)))
        for partition in await day_indexes.missing(connection):
            await _index_day(connection, partition)
    finally:
        await connection.execute(sql("migrations/unlock"))
    return news


async def _apply_one(connection: "asyncpg.Connection[asyncpg.Record]", migration: Migration) -> None:
    statements = migration.statements

    async def work() -> None:
        await connection.execute(migration.up)
        await _remember(connection, migration)

    if statements is None:
        await _give_way(lambda: _in_transaction(connection, work))
    else:
        await _give_way(lambda: _apply_one_by_one(connection, migration, statements))


async def _index_day(connection: "asyncpg.Connection[asyncpg.Record]", partition: str) -> None:
    """Build the index of a day that was there before it."""
    await day_indexes.drop_rest(connection, partition)
    await day_indexes.build(connection, partition)
    await _give_way(lambda: _in_transaction(connection, lambda: day_indexes.attach(connection, partition)))


async def _give_way(work: Callable[[], Awaitable[None]]) -> None:
    """Run work that waits for locks only shortly; if it would have to wait longer, let others pass first."""
    for left in reversed(range(TRIES)):
        try:
            await work()
        except asyncpg.LockNotAvailableError:
            if not left:
                raise
            await asyncio.sleep(LOCK_RETRY_PAUSE_S)
        else:
            return


async def _in_transaction(
    connection: "asyncpg.Connection[asyncpg.Record]", work: Callable[[], Awaitable[None]]
) -> None:
    async with connection.transaction():
        await connection.execute(sql("migrations/careful"))
        await work()


async def _apply_one_by_one(
    connection: "asyncpg.Connection[asyncpg.Record]", migration: Migration, statements: list[str]
) -> None:
    """Run the statements of a file that has no transaction. CONCURRENTLY may take long, but blocks no other session."""
    for statement in statements:
        await connection.execute(statement)
    await _remember(connection, migration)


async def _remember(connection: "asyncpg.Connection[asyncpg.Record]", migration: Migration) -> None:
    await connection.execute(sql("migrations/remember"), migration.number, migration.name, migration.checksum)


async def _deal_shards(connections: "list[asyncpg.Connection[asyncpg.Record]]") -> None:
    """Give each cell its part of the shards, but only if every other cell holds exactly its part, or none.

    This completes a first distribution that was interrupted between two cells. Cells that are added later get their
    shards one by one, by moves.
    """
    txs = [Tx(connection, datetime.now(UTC), STATEMENT_TIMEOUT_S) for connection in connections]
    parts = deal_to_cells(len(txs))
    held = [await shards.active(tx) for tx in txs]
    if all(not own or own == sorted(part) for own, part in zip(held, parts, strict=True)):
        for tx, own, part in zip(txs, held, parts, strict=True):
            if not own:
                await shards.activate(tx, part)
