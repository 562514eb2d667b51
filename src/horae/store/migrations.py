"""Migrations: numbered plain SQL files, applied to every cell under an advisory lock.

Each file runs in one transaction with a short `lock_timeout`: a migration that would have to wait behind a long
reader gives up, lets the traffic through and tries again. A file that begins with `-- without transaction` runs
statement by statement: so an index of a table with rows is built, CONCURRENTLY, and nobody waits for it. Such a file
drops first what a try that was broken off may have left. What was applied is remembered with its checksum, and a file
that changed afterwards is refused.
"""

import asyncio
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
from horae.store import partitions, shards
from horae.store.line import SESSION
from horae.store.statements import sql
from horae.store.tx import Tx

TRIES: Final = 120
PAUSE: Final = 0.5
PATIENCE: Final = 600.0
WITHOUT_TRANSACTION: Final = "-- without transaction"


class Migration(NamedTuple):
    """One numbered file."""

    number: int
    name: str
    up: str
    checksum: str

    @property
    def statements(self) -> list[str] | None:
        """What runs one by one, outside of a transaction; None where the whole is one transaction."""
        if not self.up.lstrip().startswith(WITHOUT_TRANSACTION):
            return None
        return [statement for statement in self.up.split(";\n") if statement.strip()]


def known() -> list[Migration]:
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


async def migrate(cells: list[CellSettings], environment: str) -> list[str]:
    """Bring every cell up to this release and give new ones their shards; returns what was applied where."""
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
    """Apply what is missing to one cell and make its partitions ahead."""
    while not await connection.fetchval(sql("migrations/lock")):  # noqa: ASYNC110 — another process holds it
        await asyncio.sleep(PAUSE)
    try:
        await connection.execute(sql("migrations/prepare"))
        rows = await connection.fetch(sql("migrations/applied"))
        done = {row["number"]: row["checksum"] for row in rows}
        news = []
        for migration in known():
            if migration.number not in done:
                await _apply_one(connection, migration)
                news.append(migration.name)
            elif done[migration.number] != migration.checksum:
                raise Conflict(f"migration {migration.name} was changed after it was applied")
        await connection.execute(sql("migrations/name"), name, environment)
        now = datetime.now(UTC)  # a first stock; upkeep goes by the cell's own clock
        await partitions.stock(lambda: nullcontext(Tx(connection, now, PATIENCE)))
    finally:
        await connection.execute(sql("migrations/unlock"))
    return news


async def _apply_one(connection: "asyncpg.Connection[asyncpg.Record]", migration: Migration) -> None:
    for left in reversed(range(TRIES)):
        try:
            if (statements := migration.statements) is not None:
                await _apply_one_by_one(connection, migration, statements)
                return
            async with connection.transaction():
                await connection.execute(sql("migrations/careful"))
                await connection.execute(migration.up)
                await _remember(connection, migration)
        except asyncpg.LockNotAvailableError:
            if not left:
                raise
            await asyncio.sleep(PAUSE)
        else:
            return


async def _apply_one_by_one(
    connection: "asyncpg.Connection[asyncpg.Record]", migration: Migration, statements: list[str]
) -> None:
    """A statement that is CONCURRENTLY waits for others, and nobody waits for it: it may take its time."""
    for statement in statements:
        await connection.execute(statement)
    await _remember(connection, migration)


async def _remember(connection: "asyncpg.Connection[asyncpg.Record]", migration: Migration) -> None:
    await connection.execute(sql("migrations/remember"), migration.number, migration.name, migration.checksum)


async def _deal_shards(connections: "list[asyncpg.Connection[asyncpg.Record]]") -> None:
    """Give each cell its part, but only where all others hold theirs or none: later ones move there one by one.

    A first deal that was broken off between two cells is finished so.
    """
    txs = [Tx(connection, datetime.now(UTC), PATIENCE) for connection in connections]
    parts = deal_to_cells(len(txs))
    held = [await shards.active(tx) for tx in txs]
    if all(not own or own == sorted(part) for own, part in zip(held, parts, strict=True)):
        for tx, own, part in zip(txs, held, parts, strict=True):
            if not own:
                await shards.activate(tx, part)
