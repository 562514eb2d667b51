"""Migrations: numbered plain SQL files, applied to every cell under an advisory lock.

1. Every cell is checked before the first one is changed, so a refusal leaves all of them as they were.
2. An empty database gets its roles and all files in one transaction: it is migrated, or as empty as before.
3. A database with rows gets each file in a transaction of its own with a short `lock_timeout`: a migration that would
   have to wait for a long reader gives up, lets the traffic pass and tries again. The release before works on the
   database after each file, so an upgrade that is broken off does no harm, and the next one continues.
4. There, a file that begins with `-- without transaction` runs statement by statement, so that an index of a large
   table can be built CONCURRENTLY without blocking anything. It first drops what an interrupted try may have left.

Each applied file is recorded with its checksum, and a file that changed afterwards is refused.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime
from hashlib import sha256
from importlib import resources
from typing import Final, NamedTuple

import asyncpg

from horae.domain.errors import Unavailable, Unfit
from horae.domain.placement import deal_to_cells
from horae.runtime.settings import CellSettings
from horae.store.connections.admission import unchecked
from horae.store.connections.direct_connection import SESSION
from horae.store.connections.primary import connect_to_primary
from horae.store.databases import day_indexes, migration_checks, partitions, roles
from horae.store.databases.migration_checks import DatabaseFacts
from horae.store.nodes import shards
from horae.store.statements import sql
from horae.store.tx import LOCKED, UNREACHABLE, Tx

TRIES: Final = 120
LOCK_RETRY_PAUSE_S: Final = 0.5
STATEMENT_TIMEOUT_S: Final = 600.0
WITHOUT_TRANSACTION: Final = "-- without transaction"
ONLY_OUTSIDE: Final = re.compile(r"(?<=index) concurrently\b|^\s*commit;$", re.MULTILINE)
"""What a file says only because it runs outside of a transaction."""


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

    @property
    def up_in_transaction(self) -> str:
        """The file for an empty database, where no index is large and nobody waits."""
        return self.up if self.statements is None else ONLY_OUTSIDE.sub("", self.up)


class CellPlan(NamedTuple):
    """What `migrate` would do with one cell. `newer`: the files of a newer release that the cell has."""

    cell: str
    is_empty: bool
    pending: Sequence[Migration]
    newer: Sequence[str]


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
    async with _connected(cells) as connections:
        for cell, connection in zip(cells, connections, strict=True):
            await _check(connection, cell.name, environment)
        for cell, connection in zip(cells, connections, strict=True):
            applied += [f"{cell.name}: {name}" for name in await apply(connection, cell.name, environment)]
        await _deal_shards(connections)
    return applied


async def plan(cells: list[CellSettings], environment: str) -> list[CellPlan]:
    """What `migrate` would do now. Refuses what `migrate` would refuse, and changes nothing."""
    async with _connected(cells) as connections:
        found = [
            (cell.name, await _check(connection, cell.name, environment))
            for cell, connection in zip(cells, connections, strict=True)
        ]
    known = _checksums()
    return [
        CellPlan(
            name,
            not facts.applied,
            [one for one in all_migrations() if one.number not in facts.applied],
            [one.name for number, one in facts.applied.items() if number not in known],
        )
        for name, facts in found
    ]


async def apply(connection: "asyncpg.Connection[asyncpg.Record]", name: str, environment: str) -> list[str]:
    """Create the missing roles, apply the missing migrations to one cell, and create its partitions ahead."""
    while not await connection.fetchval(sql("migrations/lock")):  # noqa: ASYNC110 — another process holds it
        await asyncio.sleep(LOCK_RETRY_PAUSE_S)
    try:
        facts = await _check(connection, name, environment)  # again: the other process has changed it
        if not facts.applied:
            return await _fill(connection, name, environment)
        return await _upgrade(connection, name, environment, facts)
    finally:
        await connection.execute(sql("migrations/unlock"))


async def _fill(connection: "asyncpg.Connection[asyncpg.Record]", name: str, environment: str) -> list[str]:
    """Give an empty database everything, or nothing."""
    every, at = all_migrations(), "the roles"
    try:
        async with connection.transaction():
            await roles.prepare(connection)
            await connection.execute(sql("migrations/prepare"))
            for migration in every:
                at = migration.name
                await connection.execute(migration.up_in_transaction)
                await _remember(connection, migration)
            at = "its name and its first days"
            await _name(connection, name, environment)
            await _stock(connection)
    except UNREACHABLE:
        raise
    except asyncpg.PostgresError as error:
        raise Unfit(f"{name}: {at} could not be applied ({_first_line(error)}); nothing was changed") from error
    return [migration.name for migration in every]


async def _upgrade(
    connection: "asyncpg.Connection[asyncpg.Record]", name: str, environment: str, facts: DatabaseFacts
) -> list[str]:
    """Apply the files that a database with rows does not have, each on its own."""
    await roles.prepare(connection)
    news: list[str] = []
    for migration in all_migrations():
        if migration.number not in facts.applied:
            try:
                await _apply_one(connection, migration)
            except UNREACHABLE:
                raise
            except asyncpg.PostgresError as error:
                kept = f"{', '.join(news)} applied before it" if news else "nothing was changed"
                refused = f"{name}: {migration.name} could not be applied ({_first_line(error)}); {kept}"
                advice = "mend it and run `horae migrate` again; until then the release before works as it did"
                raise (Unavailable if isinstance(error, LOCKED) else Unfit)(f"{refused}; {advice}") from error
            news.append(migration.name)
    await _name(connection, name, environment)
    await _stock(connection)
    for partition in await day_indexes.missing(connection):
        await _index_day(connection, partition)
    return news


async def _check(connection: "asyncpg.Connection[asyncpg.Record]", name: str, environment: str) -> DatabaseFacts:
    return await migration_checks.check(connection, name, environment, _checksums())


def _checksums() -> Mapping[int, str]:
    """The checksums of this release's migrations, by number."""
    return {migration.number: migration.checksum for migration in all_migrations()}


@asynccontextmanager
async def _connected(cells: Sequence[CellSettings]) -> "AsyncIterator[list[asyncpg.Connection[asyncpg.Record]]]":
    """A connection to the primary of each cell, also of a restored one that is closed yet: its tables come first."""
    opened: list[asyncpg.Connection[asyncpg.Record]] = []
    try:
        for cell in cells:
            with unchecked():
                opened.append(await connect_to_primary(cell.dsn, timeout=3, server_settings=SESSION))
        yield opened
    finally:
        for connection in opened:
            await connection.close()


async def _stock(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Create the partitions of the coming days."""
    now = datetime.now(UTC)  # only a first supply; upkeep uses the cell's own clock
    await partitions.stock(lambda: nullcontext(Tx(connection, now, STATEMENT_TIMEOUT_S)))


async def _name(connection: "asyncpg.Connection[asyncpg.Record]", name: str, environment: str) -> None:
    await connection.execute(sql("migrations/name"), name, environment)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


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
