"""Who asks, for which tenant, and what they may lean on."""

from typing import NamedTuple

from horae.domain.tenants import Tenant
from horae.service.handed import Handed
from horae.service.types import Types
from horae.store.cells import Store
from horae.store.definitions import Definitions
from horae.store.wakes import Wakes


class Context(NamedTuple):
    """One caller. The tenant comes from the credential, never from the request."""

    store: Store
    tenant: Tenant
    actor: str
    types: Types
    wakes: Wakes
    definitions: Definitions
    handed: Handed

    @classmethod
    def of(cls, store: Store, tenant: Tenant, actor: str) -> "Context":
        """A caller with its own memory of types and versions; the wakes are its process's."""
        return cls(store, tenant, actor, Types(store), store.wakes, Definitions(store.sealing), Handed())
