"""Finds the caller of a credential: its tenant and roles.

An answer is remembered for two seconds, so that every process refuses a revoked key within five. The home cell of the
key is asked first. If that is down, the copy of any other cell is good enough.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import Forbidden, ShardClosed, Unauthenticated, Unavailable
from horae.domain.identity.people import Session
from horae.domain.identity.principals import ApiKey
from horae.domain.ids import shard_in
from horae.domain.tenants.tenants import SYSTEM, Allowance, Tenant
from horae.runtime.clock import boottime
from horae.security.credentials import Credential
from horae.security.roles import ACTIONS, Role, known_roles, may, why_not
from horae.service.context import Context
from horae.service.memory import Memory
from horae.store.connections.each_cell import Visits
from horae.store.identity import api_keys, role_bindings
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.row_level_security import Behalf, RowSecurityCell, restrict
from horae.store.tenants import tenants
from horae.store.tx import GONE, Tx

CALLER_REMEMBERED_S: Final = 2.0
MOST: Final = 10_000
"""Callers, and contexts, that a process remembers."""


class Caller(NamedTuple):
    """A caller with an API key or a session, as the rows were at most two seconds ago."""

    key: ApiKey | Session
    tenant: Tenant
    allowance: Allowance
    roles: frozenset[Role]

    def may(self, action: str) -> bool:
        """Whether the caller may do an action. A key that is bound to some jobs may do it to these."""
        if self.key.job_labels and not ACTIONS[action].bound:
            return False
        return may(action, self.roles, self.key.scopes, platform=self.tenant.name == SYSTEM)

    def why_not(self, action: str) -> str:
        """Returns why the caller may not do an action, and which role may."""
        if self.key.job_labels and not ACTIONS[action].bound:
            return f"{action} is not for a key that is bound to some jobs"
        return why_not(action, self.roles, platform=self.tenant.name == SYSTEM)

    def check_grant(self, roles: Collection[Role], scopes: Collection[str] = ()) -> None:
        """Refuse to grant rights that a narrowed credential does not have. One without scopes may grant any role."""
        if not self.key.scopes:
            return
        platform = self.tenant.name == SYSTEM
        beyond = [one for one in ACTIONS if may(one, roles, scopes, platform=platform) and not self.may(one)]
        if beyond:
            raise Forbidden(f"these roles may {beyond[0]}, and this credential may not", action=beyond[0])


class KnownCaller(NamedTuple):
    """The caller of a key, and when the question began: the rows may have changed since."""

    at: float
    caller: Caller | None


class Callers:
    """The callers that one process knows; it also gives each tenant one context.

    The contexts share `memory`, which has one bound for all tenants.
    """

    kind = "API key"

    def __init__(
        self, store: StoreProtocol, memory: Memory | None = None, *, remembered: float = CALLER_REMEMBERED_S
    ) -> None:
        self._store = store
        self._remembered = remembered
        self._known: OrderedDict[UUID, tuple[float, Caller]] = OrderedDict()
        self._contexts: OrderedDict[UUID, Context] = OrderedDict()
        self.memory = memory or Memory()
        self._used: dict[UUID, UUID] = {}
        self._asking: dict[UUID, asyncio.Task[KnownCaller]] = {}
        self._visits = Visits(type(self).__name__.lower())

    def recent(self, credential: Credential) -> Caller | None:
        """Returns the caller if this very credential was valid within the last two seconds."""
        kept = self._known.get(credential.key_id)
        if kept is None or kept[0] <= boottime() or not credential.matches(kept[1].key.digest):
            return None
        return self._good(kept[1])

    async def find(self, credential: Credential) -> Caller:
        """Returns the caller of a credential. Every reason for a refusal gives the same answer."""
        at, caller = await self._ask(credential.key_id)
        stored = caller.key.digest if caller is not None else bytes(32)
        if not credential.matches(stored) or caller is None or self._good(caller) is None:
            raise Unauthenticated(f"the {self.kind} is not known, not right, expired or revoked")
        self._known[credential.key_id] = (at + self._remembered, caller)
        if len(self._known) > MOST:
            self._known.popitem(last=False)
        self._used[credential.key_id] = caller.tenant.id
        return caller

    def context(self, caller: Caller) -> Context:
        """Returns the context of a caller. There is one per tenant, not per request."""
        made = self._contexts.get(caller.tenant.id)
        if made is None or made.tenant != caller.tenant:
            made = self._contexts[caller.tenant.id] = Context.of(
                restrict(self._store, Behalf(caller.tenant.id)), caller.tenant, "", self.memory
            )
            if len(self._contexts) > MOST:
                self._contexts.popitem(last=False)
        return made._replace(actor=caller.key.principal, cells_down=set(), job_labels=caller.key.job_labels)

    async def once(self) -> int:
        """A duty: record which keys were used, and forget old entries. Returns 0: the next round can wait."""
        self.memory.forget_old()
        used, self._used = self._used, {}
        return await self._visits.each(self._store.cells, partial(self._note, used))

    async def _note(self, used: Mapping[UUID, UUID], cell: CellProtocol) -> None:
        """Record the used keys whose home is a cell. A failed write is not repeated."""
        here = frozenset(self._store.shards_of(cell))
        for key_id, tenant_id in used.items():
            if shard_in(key_id) in here:
                async with RowSecurityCell(cell, Behalf(tenant_id)).statement() as tx:
                    await self._touch(tx, key_id)

    def _good(self, caller: Caller) -> Caller | None:
        return caller if caller.key.is_valid(self._now(shard_in(caller.key.id))) else None

    def _now(self, shard: int) -> datetime:
        """Returns the time of the cell that holds a shard; if none does, that of any cell: the clocks are close."""
        try:
            return self._store.cell(shard).clock.now()
        except ShardClosed:
            return self._store.clock.now()

    async def _ask(self, key_id: UUID) -> KnownCaller:
        """Read the caller of a key. Concurrent callers with the same key share one read."""
        asking = self._asking.get(key_id)
        if asking is None:
            asking = self._asking[key_id] = asyncio.create_task(self._ask_cells(key_id))
            asking.add_done_callback(partial(self._end_read, key_id))
        return await asyncio.shield(asking)

    def _end_read(self, key_id: UUID, asking: "asyncio.Task[KnownCaller]") -> None:
        del self._asking[key_id]
        if not asking.cancelled():
            asking.exception()  # retrieved, in case no caller waits for it any more

    async def _ask_cells(self, key_id: UUID) -> KnownCaller:
        """Read the caller from the home cell of the key; if that is down, from a copy.

        A cell that is not the home and has no copy proves nothing, because the copy may still be on its way.
        """
        shard = shard_in(key_id)
        for cell in self._store.home_first(shard):
            at = boottime()
            try:
                caller = await self._look(cell, key_id)
            except GONE:
                continue
            if caller is not None or self._store.holds(cell, shard):
                return KnownCaller(at, caller)
        raise Unavailable(f"the database that holds this {self.kind} is unreachable; retry later")

    async def _look(self, cell: CellProtocol, key_id: UUID) -> Caller | None:
        async with RowSecurityCell(cell, Behalf(key=key_id)).statement() as tx:
            key = await api_keys.find(tx, key_id)
        if key is None:
            return None
        async with RowSecurityCell(cell, Behalf(key.tenant_id)).statement() as tx:
            tenant = await tenants.known(tx, key.tenant_id)
            bound = await role_bindings.find(tx, key.tenant_id, key.principal)
        return None if tenant is None else Caller(key, *tenant, known_roles(bound.roles))

    async def _touch(self, tx: Tx, key_id: UUID) -> None:
        await api_keys.touch(tx, key_id)
