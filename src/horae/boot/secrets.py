"""From settings to secrets: tenants are written down by name or id, and asked for by id."""

from collections.abc import Mapping
from uuid import UUID

from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, private, shard_in
from horae.domain.placement import home_of
from horae.runtime.settings import Settings
from horae.runtime.telemetry import log
from horae.service import tenants
from horae.store.cells import Store
from horae.store.each import HOME_DOWN
from horae.store.secret_book import SecretBook


class DeploymentSecrets:
    """The secrets of this deployment. A tenant that is made after this process began has its own, too.

    1. A name that no tenant has yet is kept.
    2. A tenant that lacks a secret may have that name if both are at home in one shard.
    3. It exists, so that one look for each such name decides it for ever.
    """

    def __init__(self, store: Store, values: Mapping[str, Mapping[str, str]]) -> None:
        self._store = store
        self._unresolved = {tenant: dict(secrets) for tenant, secrets in values.items()}
        self._values: dict[UUID, dict[str, str]] = {}
        self._known: set[UUID] = set()

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        """The value of a secret."""
        return self._values.get(tenant_id, {}).get(name)

    async def resolve(self) -> None:
        """Look for the tenants of all names; those that are not there are told of in the log."""
        for tenant in list(self._unresolved):
            try:
                await self._resolve(tenant)
            except NotFound:
                log.warning("secrets.no_such_tenant", tenant=tenant)
            except HOME_DOWN as error:  # and no copy has arrived anywhere else: it is new
                log.warning("secrets.tenant_away", tenant=tenant, reason=str(error))

    async def learn(self, tenant_id: UUID) -> bool:
        """Whether all that there is for a tenant is known: names that may be its own are looked for."""
        if tenant_id in self._known:
            return True
        for tenant in [one for one in self._unresolved if home_of(one) == shard_in(tenant_id)]:
            try:
                await self._resolve(tenant)
            except NotFound:
                continue
            except HOME_DOWN:
                return False
        self._known.add(tenant_id)
        return True

    async def _resolve(self, tenant: str) -> None:
        id_ = await _id_of(self._store, tenant)
        if tenant in self._unresolved:  # still: others may have looked meanwhile
            self._values.setdefault(id_, {}).update(self._unresolved.pop(tenant))


async def secrets_of(settings: Settings, store: Store) -> SecretBook:
    """Secrets of tenants and, under them, those of this deployment."""
    given = DeploymentSecrets(store, settings.all_secrets())
    await given.resolve()
    return SecretBook(store, given, given.learn)


async def _id_of(store: Store, tenant: str) -> UUID:
    try:
        return private(Prefix.TENANT, tenant)
    except NotFound:
        return (await tenants.find(store, tenant)).id
