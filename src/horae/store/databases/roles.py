"""The five roles of a deployment: created before the first migration, where the account may create roles.

No role has BYPASSRLS or is a superuser, so an administrator of a managed PostgreSQL can create them. The page "Database
roles" has the same statements for people.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import asyncpg

from horae.domain.errors import Unfit
from horae.store.statements import sql

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection

OWNER: Final = "horae_migrate"
ENGINE: Final = "horae_engine"
API: Final = "horae_api"
READONLY: Final = "horae_readonly"
ROLES: Final = (OWNER, ENGINE, "horae_relay", API, READONLY)
GRANTED: Final = ((ENGINE, "pg_read_all_stats"), (ENGINE, "pg_signal_backend"))
"""What a node sees and ends sessions with that hold back vacuum. It can do without."""
SETTINGS: Final = (
    (API, "statement_timeout", "5s"),
    (API, "idle_in_transaction_session_timeout", "10s"),
    (API, "plan_cache_mode", "force_generic_plan"),
    (API, "enable_seqscan", "off"),
    (API, "enable_bitmapscan", "off"),
    (API, "enable_hashjoin", "off"),
    (API, "enable_mergejoin", "off"),
    (API, "jit", "off"),
    (READONLY, "default_transaction_read_only", "on"),
    (READONLY, "statement_timeout", "60s"),
)
"""Role, setting and value. A pooler does not pass on the settings of our sessions, so the role of the API has them."""
PAGE: Final = 'the page "Database roles" (docs/database-roles.md)'
NO_PASSWORDS: Final[Mapping[str, str]] = MappingProxyType({})
TAKEN: Final = (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError)


class Account(NamedTuple):
    """Who migrates a cell, and who owns the database and the tables in it. No `table_owner`: there are no tables."""

    name: str
    superuser: bool
    creates_roles: bool
    database: str
    database_owner: str
    table_owner: str | None


async def prepare(connection: "Connection") -> None:
    """Create the roles that are missing, and let the owner's role own what this session creates.

    1. Raises Unfit where a role is missing and the account may not create roles.
    2. A superuser, the owner itself and the owner of existing tables continue as they are.
    3. Any other account becomes a member of the owner's role, gives it the empty database, and continues as that role.
       So an account with CREATEROLE and CREATEDB is enough.
    """
    account = await read_account(connection)
    await create_missing(connection, account)
    if account.superuser or account.name == OWNER or account.table_owner not in {None, OWNER}:
        return
    try:
        await _continue_as_owner(connection, account)
    except asyncpg.InsufficientPrivilegeError as error:
        reason = f"{account.name} cannot act as {OWNER} in the database {account.database} ({error})"
        raise Unfit(f"{reason}; migrate as {OWNER}, the owner of the database, as {PAGE} says") from error


async def missing(connection: "Connection", roles: Sequence[str]) -> list[str]:
    """Those of these roles that the server does not have."""
    return [row["name"] for row in await connection.fetch(sql("databases/roles/missing"), roles)]


async def create_missing(
    connection: "Connection", account: Account, verifiers: Mapping[str, str] = NO_PASSWORDS
) -> None:
    """Create the roles that are missing, with the passwords of these SCRAM verifiers, by role."""
    names = await missing(connection, ROLES)
    if not names:
        return
    refused = f"the roles {', '.join(names)} are missing, and {account.name} may not create them"
    advice = f"create them first, as {PAGE} says"
    if not (account.superuser or account.creates_roles):
        raise Unfit(f"{refused}; {advice}")
    try:
        for name in names:
            with suppress(*TAKEN):  # another cell of this server is migrated at the same time
                await _create(connection, name, verifiers.get(name))
    except asyncpg.InsufficientPrivilegeError as error:
        raise Unfit(f"{refused} ({error}); {advice}") from error


async def _create(connection: "Connection", name: str, verifier: str | None) -> None:
    """Create one role with its settings, or nothing."""
    async with connection.transaction():
        await _create_role(connection, name, verifier)
        for role, setting, value in SETTINGS:
            if role == name:
                await configure(connection, role, setting, value)
        for role, granted in GRANTED:
            if role == name:
                # On PostgreSQL 16 and newer, CREATEROLE alone does not allow it. `horae doctor` says what is missing.
                with suppress(asyncpg.InsufficientPrivilegeError):
                    async with connection.transaction():
                        await grant(connection, granted, role)


async def _create_role(connection: "RunsStatements", name: str, verifier: str | None) -> None:
    if verifier is None:
        await create(connection, name)
    else:
        await create_with_password(connection, name, verifier)


async def _continue_as_owner(connection: "Connection", account: Account) -> None:
    if not await inherits(connection, OWNER):
        await join_owner(connection)
    if account.database_owner == account.name:
        await hand_over(connection, account.database)
    if not await creates_tables(connection, OWNER):
        await open_schema(connection)  # some providers let another role than the database's owner own the schema
    await become_owner(connection)


async def read_account(connection: "Connection") -> Account:
    """The account of a connection."""
    row = await connection.fetchrow(sql("databases/roles/read_account"))
    assert row is not None
    return Account(*row)


class RunsStatements(Protocol):
    """What runs statements that take no parameters: a connection, or a list of them for somebody else."""

    async def execute(self, query: str, /) -> str:
        """Run a statement."""
        ...


class StatementList:
    """Collects statements instead of running them."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    async def execute(self, query: str, /) -> str:
        """Add a statement, without its comments."""
        self.statements.append(" ".join(line for line in query.splitlines() if not line.startswith("--")))
        return ""


async def statements_for_administrator(verifiers: Mapping[str, str], database: str) -> list[str]:
    """The statements that create all roles and the database, for an administrator of the server."""
    found = StatementList()
    for role in ROLES:
        await _create_role(found, role, verifiers.get(role))
    for setting in SETTINGS:
        await configure(found, *setting)
    for role, granted in GRANTED:
        await grant(found, granted, role)
    await create_database(found, database)
    return found.statements


async def create(connection: RunsStatements, role: str) -> None:
    """Create a role that may log in, and nothing else. It has no password."""
    await connection.execute(sql("databases/roles/create").format(role=role))


async def create_with_password(connection: RunsStatements, role: str, verifier: str) -> None:
    """Create a role that may log in with a password, and nothing else."""
    await connection.execute(sql("databases/roles/create_with_password").format(role=role, verifier=verifier))


async def set_password(connection: "Connection", role: str, verifier: str) -> None:
    """Replace the password of a role."""
    await connection.execute(sql("databases/roles/set_password").format(role=role, verifier=verifier))


async def configure(connection: RunsStatements, role: str, setting: str, value: str) -> None:
    """Give a role a setting for all its sessions."""
    await connection.execute(sql("databases/roles/configure").format(role=role, setting=setting, value=value))


async def grant(connection: RunsStatements, granted: str, role: str) -> None:
    """Make a role a member of a role of PostgreSQL."""
    await connection.execute(sql("databases/roles/grant").format(granted=granted, role=role))


async def database_exists(connection: "Connection", database: str) -> bool:
    """Whether the server has a database of this name."""
    return bool(await connection.fetchval(sql("databases/roles/database_exists"), database))


async def create_database(connection: RunsStatements, database: str) -> None:
    """Create an empty database that belongs to the owner's role."""
    quoted = database.replace('"', '""')
    await connection.execute(sql("databases/roles/create_database").format(database=quoted, owner=OWNER))


async def inherits(connection: "Connection", role: str) -> bool:
    """Whether the account of this connection has the rights of a role."""
    return bool(await connection.fetchval(sql("databases/roles/inherits"), role))


async def join_owner(connection: "Connection") -> None:
    """Make the account of this connection a member of the owner's role."""
    await connection.execute(sql("databases/roles/join_owner").format(owner=OWNER))


async def hand_over(connection: "Connection", database: str) -> None:
    """Give a database to the owner's role."""
    await connection.execute(sql("databases/roles/hand_over").format(database=database.replace('"', '""'), owner=OWNER))


async def become_owner(connection: "Connection") -> None:
    """Continue this session as the owner's role."""
    await connection.execute(sql("databases/roles/become_owner").format(owner=OWNER))


async def creates_tables(connection: "Connection", role: str) -> bool:
    """Whether a role may create tables in the schema of this session."""
    return bool(await connection.fetchval(sql("databases/roles/creates_tables"), role))


async def open_schema(connection: "Connection") -> None:
    """Let the owner's role create tables in the schema `public`."""
    await connection.execute(sql("databases/roles/open_schema").format(owner=OWNER))
