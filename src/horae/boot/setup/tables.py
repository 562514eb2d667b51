"""Migrates the new database, and creates the first tenant with its first key."""

from pathlib import Path
from typing import Final

from horae.boot.setup.files import ADMIN_KEY, SettingsFile, write_private
from horae.boot.setup.steps import SetupSteps
from horae.domain.errors import NotFound
from horae.domain.tenants.tenants import Tenant
from horae.repositories.envelopes import Envelopes
from horae.runtime.settings import CellSettings
from horae.security.keks import Keks
from horae.security.keyrings import Keyring
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.tenants import tenants
from horae.store import migrations
from horae.store.store import Store

KEY_NAME: Final = "admin"
ACTOR: Final = "init"
MAX_KEYS: Final = 1000
TABLES: Final = "tables"
TENANT: Final = "tenant"
KEY: Final = "key"


async def migrate(steps: SetupSteps, settings: SettingsFile) -> None:
    """Bring the database up to this release, as the owner of its tables."""
    cells = _cells(settings)
    [plan] = await migrations.plan(cells, settings.environment)
    if not plan.pending:
        steps.is_there(TABLES, "at this release")
    elif steps.begins(TABLES, f"apply {len(plan.pending)} migrations as {settings.environment}"):
        await migrations.migrate(cells, settings.environment)


async def create_first_key(steps: SetupSteps, settings: SettingsFile, folder: Path, owner: str | None) -> None:
    """Create the first tenant and a key for its administrator, whose text goes into a file and nowhere else."""
    async with Store.of(_cells(settings), cipher=lambda store: Envelopes(store, _keks(settings))) as store:
        tenant = await _tenant(steps, store, settings.tenant)
        if tenant is None:
            steps.begins(KEY, _key_text(settings, folder))
            return
        ctx = Context.of(store, tenant, ACTOR)
        found = await api_keys.page(ctx, None, MAX_KEYS)
        if any(key.name == KEY_NAME and key.revoked_at is None for key in found):
            lost = f"lost? `horae key create NAME --role admin --tenant {settings.tenant}` makes another"
            steps.is_there(KEY, f"{KEY_NAME} of tenant {settings.tenant}; {lost}")
        elif steps.begins(KEY, _key_text(settings, folder)):
            made = await api_keys.create(ctx, KEY_NAME, [Role.ADMIN])
            write_private(folder / ADMIN_KEY, made.text + "\n", owner)


async def _tenant(steps: SetupSteps, store: Store, name: str) -> Tenant | None:
    """The first tenant; None in a dry run that would create it."""
    try:
        found = await tenants.find(store, name)
    except NotFound:
        if not steps.begins(TENANT, f"create {name}"):
            return None
        return await tenants.create(PlatformContext(store, ACTOR), name)
    steps.is_there(TENANT, name)
    return found


def plan_all(steps: SetupSteps, settings: SettingsFile, folder: Path) -> None:
    """The steps for a database that is not there yet, in a dry run."""
    steps.begins(TABLES, f"apply {len(migrations.all_migrations())} migrations as {settings.environment}")
    steps.begins(TENANT, f"create {settings.tenant}")
    steps.begins(KEY, _key_text(settings, folder))


def _key_text(settings: SettingsFile, folder: Path) -> str:
    return f"create {KEY_NAME}, an admin of tenant {settings.tenant}, in {folder / ADMIN_KEY}"


def _cells(settings: SettingsFile) -> list[CellSettings]:
    return [CellSettings(name="cell-0", dsn=settings.upkeep_dsn)]


def _keks(settings: SettingsFile) -> Keks:
    return Keks([Keyring(Path(settings.keyring))])
