"""From a credential to who asks: which tenant, which roles.

Remembered for two seconds, so that a revoked key is refused everywhere within five. The key's
home is asked first; when it is down any other cell's copy will do.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import Forbidden, ShardClosed, Unauthenticated, Unavailable
from horae.domain.identity import ApiKey
from horae.domain.ids import shard_in
from horae.domain.people import Session
from horae.domain.tenants import SYSTEM, Allowance, Tenant
from horae.runtime.clock import boottime
from horae.security.credentials import Credential
from horae.security.roles import ACTIONS, Role, known_roles, may, why_not
from horae.service.context import Context
from horae.service.memory import Memory
from horae.store import bindings, keys, tenants
from horae.store.cells import Cell, Store
from horae.store.each import Visits
from horae.store.tx import GONE, Tx
from horae.store.walls import Behalf, WalledCell, behind

REMEMBERED: Final = 2.0
MOST: Final = 10_000


class Caller(NamedTuple):
    """Who asks, as the rows said at most two seconds ago: by a key, or by a session."""

    key: ApiKey | Session
    tenant: Tenant
    allowance: Allowance
    roles: frozenset[Role]

    def may(self, action: str) -> bool:
        """Whether an action is theirs to do."""
        return may(action, self.roles, self.key.scopes, platform=self.tenant.name == SYSTEM)

    def why_not(self, action: str) -> str:
        """Why an action is not theirs to do, and whose it is."""
        return why_not(action, self.roles, platform=self.tenant.name == SYSTEM)

    def check_grant(self, roles: Collection[Role], scopes: Collection[str] = ()) -> None:
        """Refuse to give others more than a narrowed credential has; one that may manage keys at all gives any role."""
        if not self.key.scopes:
            return
        platform = self.tenant.name == SYSTEM
        beyond = [one for one in ACTIONS if may(one, roles, scopes, platform=platform) and not self.may(one)]
        if beyond:
            raise Forbidden(f"these roles may {beyond[0]}, and this credential may not", action=beyond[0])


class Found(NamedTuple):
    """Who is behind a key, and when we began to ask: what the rows said may have changed since."""

    at: float
    caller: Caller | None


class Callers:
    """One per process: knows who is behind a credential, and lends each tenant one context.

    What contexts remember is in `memory`, which has one bound for all tenants.
    """

    kind = "API key"

    def __init__(self, store: Store, *, remembered: float = REMEMBERED) -> None:
        self._store = store
        self._remembered = remembered
        self._known: OrderedDict[UUID, tuple[float, Caller]] = OrderedDict()
        self._contexts: OrderedDict[UUID, Context] = OrderedDict()
        self.memory = Memory()
        self._used: dict[UUID, UUID] = {}
        self._asking: dict[UUID, asyncio.Task[Found]] = {}
        self._visits = Visits(type(self).__name__.lower())

    def recent(self, credential: Credential) -> Caller | None:
        """The caller, where this very credential was found good within the last two seconds."""
        kept = self._known.get(credential.key_id)
        if kept is None or kept[0] <= boottime() or not credential.proves(kept[1].key.digest):
            return None
        return self._good(kept[1])

    async def find(self, credential: Credential) -> Caller:
        """The caller behind a credential; every way of not being good is answered the same."""
        at, caller = await self._ask(credential.key_id)
        stored = caller.key.digest if caller is not None else bytes(32)
        if not credential.proves(stored) or caller is None or self._good(caller) is None:
            raise Unauthenticated(f"the {self.kind} is not known, not right, expired or revoked")
        self._known[credential.key_id] = (at + self._remembered, caller)
        if len(self._known) > MOST:
            self._known.popitem(last=False)
        self._used[credential.key_id] = caller.tenant.id
        return caller

    def context(self, caller: Caller) -> Context:
        """What the caller's requests lean on: one per tenant, not per request."""
        made = self._contexts.get(caller.tenant.id)
        if made is None or made.tenant != caller.tenant:
            made = self._contexts[caller.tenant.id] = Context.of(
                behind(self._store, Behalf(caller.tenant.id)), caller.tenant, "", self.memory
            )
            if len(self._contexts) > MOST:
                self._contexts.popitem(last=False)
        return made._replace(actor=caller.key.principal, cells_down=set())

    async def once(self) -> int:
        """A duty: note which keys were used, forget what nobody came for; returns 0, for there is no hurry."""
        self.memory.forget_old()
        used, self._used = self._used, {}
        return await self._visits.each(self._store.cells, partial(self._note, used))

    async def _note(self, used: Mapping[UUID, UUID], cell: Cell) -> None:
        """Those that are at home in a cell; what cannot be noted now is not worth keeping."""
        here = frozenset(self._store.shards_of(cell))
        for key_id, tenant_id in used.items():
            if shard_in(key_id) in here:
                async with WalledCell(cell, Behalf(tenant_id)).statement() as tx:
                    await self._touch(tx, key_id)

    def _good(self, caller: Caller) -> Caller | None:
        return caller if caller.key.good(self._now(shard_in(caller.key.id))) else None

    def _now(self, shard: int) -> datetime:
        """The time of the cell that holds a shard; while that is not known, of any: their clocks are near."""
        try:
            return self._store.cell(shard).clock.now()
        except ShardClosed:
            return self._store.clock.now()

    async def _ask(self, key_id: UUID) -> Found:
        """Whoever comes while a key is being asked about waits for the same answer: a rush asks once."""
        asking = self._asking.get(key_id)
        if asking is None:
            asking = self._asking[key_id] = asyncio.create_task(self._ask_cells(key_id))
            asking.add_done_callback(partial(self._asked, key_id))
        return await asyncio.shield(asking)

    def _asked(self, key_id: UUID, asking: "asyncio.Task[Found]") -> None:
        del self._asking[key_id]
        if not asking.cancelled():
            asking.exception()  # taken note of, should everyone who waited have gone

    async def _ask_cells(self, key_id: UUID) -> Found:
        """What its home says; where that is down, what a copy says. That no copy has arrived yet says nothing."""
        shard = shard_in(key_id)
        for cell in self._store.home_first(shard):
            at = boottime()
            try:
                caller = await self._look(cell, key_id)
            except GONE:
                continue
            if caller is not None or self._store.holds(cell, shard):
                return Found(at, caller)
        raise Unavailable(f"no cell that knows this {self.kind} could be asked")

    async def _look(self, cell: Cell, key_id: UUID) -> Caller | None:
        async with WalledCell(cell, Behalf(key=key_id)).statement() as tx:
            key = await keys.find(tx, key_id)
        if key is None:
            return None
        async with WalledCell(cell, Behalf(key.tenant_id)).statement() as tx:
            tenant = await tenants.known(tx, key.tenant_id)
            bound = await bindings.find(tx, key.tenant_id, key.principal)
        return None if tenant is None else Caller(key, *tenant, known_roles(bound.roles))

    async def _touch(self, tx: Tx, key_id: UUID) -> None:
        await keys.touch(tx, key_id)
