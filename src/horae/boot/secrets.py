"""From settings to secrets: tenants are written down by name or id, and asked for by id."""

from uuid import UUID

from horae.delivery.secrets import named
from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, private
from horae.runtime.settings import Settings
from horae.runtime.telemetry import log
from horae.service import tenants
from horae.store.cells import Store
from horae.store.each import HOME_DOWN
from horae.store.secret_book import SecretBook


async def secrets_of(settings: Settings, store: Store) -> SecretBook:
    """Secrets of tenants and, under them, those of this deployment. A tenant nobody knows is told of in the log."""
    values: dict[UUID, dict[str, str]] = {}
    for tenant, secrets in settings.all_secrets().items():
        try:
            values.setdefault(await _id_of(store, tenant), {}).update(secrets)
        except NotFound:
            log.warning("secrets.no_such_tenant", tenant=tenant)
        except HOME_DOWN as error:  # and no copy has arrived anywhere else: it is new
            log.error(
                "secrets.tenant_away", tenant=tenant, reason=str(error), advice="start again when its cell is back"
            )
    return SecretBook(store, named(values))


async def _id_of(store: Store, tenant: str) -> UUID:
    try:
        return private(Prefix.TENANT, tenant)
    except NotFound:
        return (await tenants.find(store, tenant)).id
