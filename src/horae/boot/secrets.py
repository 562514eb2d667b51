"""Builds the secrets of this process from settings, which name tenants by name or id. Lookups use the id."""

from collections.abc import Mapping
from uuid import UUID

from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, private, shard_in
from horae.domain.placement import home_of
from horae.repositories.secret_book import SecretBook
from horae.runtime.settings import Settings
from horae.runtime.telemetry import log
from horae.service.tenants import tenants
from horae.store.connections.each_cell import HOME_DOWN
from horae.store.protocol import StoreProtocol


class DeploymentSecrets:
    """The secrets of this deployment, including those of tenants that are created after this process started.

    1. A tenant name that does not exist yet is kept as unresolved.
    2. A tenant that lacks a secret may be one of these names, if both have the same home shard.
    3. The tenant exists by then, so one lookup of each such name settles the question for good.
    """

    def __init__(self, store: StoreProtocol, values: Mapping[str, Mapping[str, str]]) -> None:
        self._store = store
        self._unresolved = {tenant: dict(secrets) for tenant, secrets in values.items()}
        self._values: dict[UUID, dict[str, str]] = {}
        self._known: set[UUID] = set()

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        """The value of a secret."""
        return self._values.get(tenant_id, {}).get(name)

    async def resolve(self) -> None:
        """Look up the tenants of all names; a name without a tenant is logged."""
        for tenant in list(self._unresolved):
            try:
                await self._resolve(tenant)
            except NotFound:
                log.warning("secrets.no_such_tenant", tenant=tenant)
            except HOME_DOWN as error:  # no cell has a copy yet either: the tenant is new
                log.warning("secrets.tenant_unavailable", tenant=tenant, reason=str(error))

    async def learn(self, tenant_id: UUID) -> bool:
        """Look up unresolved names that may be this tenant; returns whether all its secrets are known now."""
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
        if tenant in self._unresolved:  # again: another task may have been faster
            self._values.setdefault(id_, {}).update(self._unresolved.pop(tenant))


async def secrets_of(settings: Settings, store: StoreProtocol) -> SecretBook:
    """The secrets of tenants, with those of this deployment as a fallback."""
    given = DeploymentSecrets(store, settings.secrets)
    await given.resolve()
    return SecretBook(store, given, given.learn)


async def _id_of(store: StoreProtocol, tenant: str) -> UUID:
    try:
        return private(Prefix.TENANT, tenant)
    except NotFound:
        return (await tenants.find(store, tenant)).id
