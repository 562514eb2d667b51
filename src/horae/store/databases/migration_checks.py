"""Checks a database before `horae migrate` changes anything in it.

All checks only read, and all cells are checked before the first one is changed. So a refusal leaves every cell as it
was, and one line says all that is missing.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import asyncpg

from horae.domain.errors import Conflict, Unfit
from horae.domain.health.doctor import NEWEST_MAJOR, OLDEST_MAJOR
from horae.store.databases import roles
from horae.store.databases.roles import Account
from horae.store.statements import sql

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection

ENCODING: Final = "UTF8"
NO_RIGHT: Final = asyncpg.InsufficientPrivilegeError


class AppliedMigration(NamedTuple):
    """A migration as the database recorded it."""

    name: str
    checksum: str


class DatabaseFacts(NamedTuple):
    """What a database says about itself. `applied` has the recorded migrations by number."""

    version: int
    encoding: str
    database: str
    environment: str | None
    applied: Mapping[int, AppliedMigration]


async def check(connection: "Connection", cell: str, environment: str, known: Mapping[int, str]) -> DatabaseFacts:
    """Read a database, and refuse it where a migration could not complete. `known` has our checksums by number."""
    account = await roles.read_account(connection)
    facts = await read(connection, account)
    if wrong := [*_examine(facts, environment), *await _examine_account(connection, account)]:
        raise Unfit(f"{cell}: {'; '.join(wrong)}; nothing was changed")
    for number, one in facts.applied.items():
        if known.get(number, one.checksum) != one.checksum:
            raise Conflict(f"{cell}: migration {one.name} was changed after it was applied; nothing was changed now")
    return facts


async def read(connection: "Connection", account: Account) -> DatabaseFacts:
    """Read a database, whether it is empty or migrated."""
    server = await read_server(connection)
    applied: dict[int, AppliedMigration] = {}
    environment = None
    if server["migrated"]:
        try:
            applied = await read_applied(connection)
            environment = await read_environment(connection) if applied else None
        except NO_RIGHT as error:
            refused = f"{account.name} may not read the tables of the database {account.database}"
            raise Unfit(f"{refused}: migrate as {account.table_owner}, who owns them; nothing was changed") from error
    return DatabaseFacts(server["version"], server["encoding"], server["database"], environment, applied)


async def read_server(connection: "Connection") -> asyncpg.Record:
    """The server and the database of a connection."""
    row = await connection.fetchrow(sql("databases/migration_checks/read_server"))
    assert row is not None
    return row


async def read_applied(connection: "Connection") -> dict[int, AppliedMigration]:
    """The migrations that a database recorded, by number."""
    rows = await connection.fetch(sql("databases/migration_checks/read_applied"))
    return {row["number"]: AppliedMigration(row["name"], row["checksum"]) for row in rows}


async def read_environment(connection: "Connection") -> str | None:
    """The environment for which a cell was made."""
    found: str | None = await connection.fetchval(sql("databases/migration_checks/read_environment"))
    return found


def _examine(facts: DatabaseFacts, environment: str) -> list[str]:
    """What is wrong with the server and the database."""
    wrong = []
    major = facts.version // 10_000
    if major < OLDEST_MAJOR:
        wrong.append(f"the server is PostgreSQL {major}: use PostgreSQL {OLDEST_MAJOR} to {NEWEST_MAJOR}")
    if facts.encoding != ENCODING:
        made = f"create database {facts.database} encoding '{ENCODING}' template template0"
        wrong.append(f"the database {facts.database} has the encoding {facts.encoding}: make it anew with `{made}`")
    if facts.environment not in {None, environment}:
        wrong.append(
            f"this database belongs to the environment {facts.environment!r}, and HORAE_ENVIRONMENT is {environment!r}:"
            " give each environment a database of its own"
        )
    return wrong


async def _examine_account(connection: "Connection", account: Account) -> list[str]:
    """What the account may not do."""
    if account.superuser:
        return []
    wrong = []
    if (names := await roles.missing(connection, roles.ROLES)) and not account.creates_roles:
        wrong.append(
            f"the roles {', '.join(names)} are missing, and {account.name} may not create them: create them first, as"
            f" `horae init --print-roles` or {roles.PAGE} says"
        )
    owner = account.table_owner
    if owner not in {None, account.name} and not await roles.inherits(connection, owner):
        joins = owner == roles.OWNER and account.creates_roles  # it makes itself a member, where PostgreSQL lets it
        if not joins:
            wrong.append(f"the tables belong to {owner}, and {account.name} is no member of it: migrate as {owner}")
    return wrong
