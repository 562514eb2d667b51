"""`horae init`."""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from horae.boot.output import answer, err, out
from horae.boot.setup import files, server, tables
from horae.boot.setup.addresses import DatabaseAddress
from horae.boot.setup.files import SettingsFile
from horae.boot.setup.steps import SetupSteps
from horae.domain.connections.transports import VERIFIED
from horae.domain.errors import Conflict, Invalid, Unfit
from horae.security import keyrings
from horae.store.databases import roles

FOLDER: Final = Path("/etc/horae")
SERVER: Final = "postgresql://127.0.0.1:5432/horae"
KEYRING: Final = "keyring"
SETTINGS: Final = "settings"

Environment = Literal["production", "staging", "dev", "test"]


async def init(
    environment: Annotated[
        Environment | None, typer.Option(help="Which kind of deployment this is; required for a new one.")
    ] = None,
    server_address: Annotated[
        str, typer.Option("--server", help="The database as all processes reach it, without account and password.")
    ] = SERVER,
    admin: Annotated[
        str | None,
        typer.Option(help="An account with CREATEROLE and CREATEDB; its password is in PGPASSWORD or a password file."),
    ] = None,
    print_roles: Annotated[
        bool, typer.Option("--print-roles", help="Print the SQL for an administrator of the server, and end.")
    ] = False,
    set_passwords: Annotated[
        bool, typer.Option("--set-passwords", help="Replace the passwords of roles that are on the server already.")
    ] = False,
    tenant: Annotated[str, typer.Option(help="The first tenant, which owns jobs.")] = "default",
    folder: Annotated[Path, typer.Option(help="Where settings, keyring and first key are kept.")] = FOLDER,
    owner: Annotated[
        str | None, typer.Option(help="The user of this machine who runs the processes and gets the files.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show each step, and do none.")] = False,
) -> None:
    """Set up a deployment: keyring, settings file, roles, database, tables, first tenant and its admin key.

    Each step is printed before it is done. What is there already stays as it is, so it may be run again.
    """
    steps = SetupSteps(dry_run=dry_run)
    address = DatabaseAddress(server_address)
    file = folder / files.SETTINGS
    found = files.read_settings(file)
    settings = found or _new_settings(folder, address, environment, tenant)
    _check(settings, address, environment)
    if found is None and admin is None and not print_roles:
        raise Invalid(
            "who creates the roles? --admin ACCOUNT does it at once; --print-roles prints the SQL for an administrator"
        )
    _write_files(steps, settings, folder, owner, is_new=found is None)
    if print_roles:
        err.print("roles     run the statements on the server as an administrator, then run `horae init` again")
        lines = await roles.statements_for_administrator(server.verifiers_of(settings), address.database)
        answer({"statements": lines}, lambda: out.print(";\n".join(lines) + ";", highlight=False, soft_wrap=True))
        return
    if admin is not None:
        await server.prepare(steps, address, admin, settings, set_passwords=set_passwords)
    try:
        await server.check_logins(settings)
    except Unfit:
        if not dry_run:
            raise
        tables.plan_all(steps, settings, folder)
    else:
        await tables.migrate(steps, settings)
        await tables.create_first_key(steps, settings, folder, owner)
    facts = {"settings": str(file), "steps": [one._asdict() for one in steps.results]}
    answer(facts, lambda: out.print(_summary(steps, file), highlight=False, soft_wrap=True))


def _new_settings(folder: Path, address: DatabaseAddress, environment: Environment | None, tenant: str) -> SettingsFile:
    if environment is None:
        raise Invalid(
            "which environment is this? --environment production: calls go to public addresses over https only;"
            " --environment dev: also to this machine and private networks"
        )
    return files.new_settings(folder.absolute(), address, environment, tenant)


def _check(settings: SettingsFile, address: DatabaseAddress, environment: Environment | None) -> None:
    """Refuse what would be refused later by every process."""
    if environment not in {None, settings.environment}:
        raise Conflict(
            f"the settings file says environment = {settings.environment!r}, and --environment {environment!r}: a"
            " deployment keeps its environment; set up another one with another --folder and --server"
        )
    if settings.environment == "production" and address.transport.exposed:
        hosts = ", ".join(address.transport.exposed)
        raise Unfit(f"{hosts} is reached without a verified certificate: add ?sslmode={VERIFIED} to --server")


def _write_files(steps: SetupSteps, settings: SettingsFile, folder: Path, owner: str | None, *, is_new: bool) -> None:
    keyring, file = Path(settings.keyring), folder / files.SETTINGS
    if keyring.exists():
        steps.is_there(KEYRING, str(keyring))
    elif steps.begins(KEYRING, f"make {keyring}; keep a copy away from database backups: without it nothing decrypts"):
        files.make_folder(keyring.parent, owner)
        keyrings.create(keyring, "first")
        files.give_to(keyring, owner)
    if not is_new:
        steps.is_there(SETTINGS, str(file))
    elif steps.begins(SETTINGS, f"write {file} with new passwords, readable by its owner only"):
        files.make_folder(folder, owner)
        files.write_private(file, settings.text(), owner)


def _summary(steps: SetupSteps, file: Path) -> str:
    if steps.dry_run:
        return f"{steps.changes} steps would be done; nothing was changed"
    named = "" if file.parent == FOLDER else f"HORAE_CONFIG={file} "
    done = f"{steps.changes} steps done" if steps.changes else "everything is there; nothing was changed"
    return f"{done}. Next: `{named}horae serve` runs the API and a node"
