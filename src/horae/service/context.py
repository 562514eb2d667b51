"""Who asks, for which tenant, and what they may lean on."""

from typing import NamedTuple

from horae.domain.tenants import Tenant
from horae.service.handed import Handed
from horae.service.memory import Memory
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
    memory: Memory

    @classmethod
    def of(cls, store: Store, tenant: Tenant, actor: str, memory: Memory | None = None) -> "Context":
        """A caller with the memory of its process, or with one of its own; the wakes are its process's."""
        kept = memory or Memory()
        types, definitions = Types(store, kept.types), kept.definitions(store.sealing, tenant.id)
        return cls(store, tenant, actor, types, store.wakes, definitions, kept.handed, kept)
