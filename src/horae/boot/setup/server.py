"""Prepares the server: creates the roles and the database with an administrator's account, or checks that they work."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from horae.boot.setup.addresses import DatabaseAddress
from horae.boot.setup.files import SETTING_OF_ROLE, SettingsFile
from horae.boot.setup.steps import SetupSteps
from horae.domain.errors import Unfit
from horae.security.scram import verifier_of
from horae.store.cells import Cell
from horae.store.databases import roles
from horae.store.tx import REFUSED_LOGIN

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection

MAINTENANCE: Final = "postgres"
"""The database that every server has."""
ROLES: Final = "roles"
DATABASE: Final = "database"


def verifiers_of(settings: SettingsFile) -> dict[str, str]:
    """What PostgreSQL is to know of the passwords in the settings file, by role."""
    return {role: verifier_of(settings.password_of(role)) for role in SETTING_OF_ROLE}


async def prepare(
    steps: SetupSteps, address: DatabaseAddress, admin: str, settings: SettingsFile, *, set_passwords: bool
) -> None:
    """Create the roles and the database that are missing, as the account `admin`."""
    async with connected(address.dsn(admin, database=MAINTENANCE)) as connection:
        account = await roles.read_account(connection)
        names = await roles.missing(connection, roles.ROLES)
        if names and not (account.superuser or account.creates_roles):
            raise Unfit(
                f"the roles {', '.join(names)} are missing, and {account.name} may not create roles: let an"
                " administrator of the server run the statements of `horae init --print-roles`"
            )
        verifiers = verifiers_of(settings)
        if not names:
            steps.is_there(ROLES, f"all {len(roles.ROLES)} on {address.host}")
        elif steps.begins(ROLES, f"create {', '.join(names)} on {address.host} as {account.name}"):
            await roles.create_missing(connection, account, verifiers)
        known = [role for role in SETTING_OF_ROLE if role not in names]
        await _check_passwords(steps, connection, address, settings, known, set_passwords=set_passwords)
        exists = await roles.database_exists(connection, address.database)
        if not exists and steps.begins(DATABASE, f"create {address.database}, owned by {roles.OWNER}"):
            if not await roles.inherits(connection, roles.OWNER):
                await roles.join_owner(connection)
            await roles.create_database(connection, address.database)
    if exists:
        async with connected(address.dsn(admin)) as connection:
            await _hand_over(steps, connection, address.database)


async def _check_passwords(
    steps: SetupSteps,
    connection: "Connection",
    address: DatabaseAddress,
    settings: SettingsFile,
    known: list[str],
    *,
    set_passwords: bool,
) -> None:
    """Check that roles which were there before log in with the passwords of the settings file; or replace theirs."""
    for role in known:
        password = settings.password_of(role)
        refusal = await _refused_login(address.dsn(role, password, MAINTENANCE))
        if refusal is None:
            continue
        if not set_passwords:
            raise Unfit(
                f"{role} is on {address.host} already, with another password than in the settings file ({refusal}):"
                " --set-passwords replaces it, and other deployments on that server need the new one"
            )
        if steps.begins(ROLES, f"replace the password of {role}"):
            await roles.set_password(connection, role, verifier_of(password))


async def _hand_over(steps: SetupSteps, connection: "Connection", database: str) -> None:
    """Give a database without our tables to the owner's role."""
    account = await roles.read_account(connection)
    if account.table_owner is not None or account.database_owner == roles.OWNER:
        steps.is_there(DATABASE, f"{database}, owned by {account.database_owner}")
    elif steps.begins(DATABASE, f"give {database} of {account.database_owner} to {roles.OWNER}"):
        if account.superuser:
            await roles.hand_over(connection, database)
        else:
            await roles.prepare(connection)


async def check_logins(settings: SettingsFile) -> None:
    """Refuse to continue where a role of the settings file cannot log in."""
    for role, setting in SETTING_OF_ROLE.items():
        refusal = await _refused_login(getattr(settings, setting))
        if refusal is not None:
            raise Unfit(
                f"{role} cannot log in ({refusal}): create the roles and the database with --admin, or let an"
                " administrator of the server run the statements of `horae init --print-roles`"
            )


async def _refused_login(dsn: str) -> str | None:
    """Why a role cannot log in; None where it can."""
    try:
        async with connected(dsn):
            return None
    except REFUSED_LOGIN as error:
        return str(error)


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator["Connection"]:
    """A connection of its own to the primary."""
    async with Cell("cell-0", dsn).direct() as connection:
        yield connection
