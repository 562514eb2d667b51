"""Sessions: opened for a person or a key, moved to another tenant, ended. The row is the truth, a cookie its name."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from horae.domain.errors import Forbidden, NotFound, Unauthenticated, Unavailable
from horae.domain.ids import shard_in
from horae.domain.people import Person, Session
from horae.domain.tenants import Tenant
from horae.runtime.chance import mint
from horae.runtime.telemetry import log
from horae.security import credentials
from horae.security.credentials import Credential
from horae.service.callers import Caller
from horae.service.context import Context, ask_cells
from horae.store import audit, bindings, sessions, tenants
from horae.store.cells import Store
from horae.store.each import HOME_DOWN
from horae.store.tx import Tx
from horae.store.walls import PLATFORM, Behalf, behind


class Terms(NamedTuple):
    """How long a session is good: unused, and at all."""

    idle: timedelta = timedelta(hours=1)
    life: timedelta = timedelta(hours=12)


class Opened(NamedTuple):
    """A new session, and the only copy of what proves it."""

    session: Session
    credential: Credential
    tenant: Tenant


class Wanted(NamedTuple):
    """A session to be opened. `login` is what it comes from, which can open only one; `until`: no longer than that."""

    tenant: Tenant
    principal: str
    name: str
    groups: tuple[str, ...] = ()
    key_id: UUID | None = None
    login: bytes | None = None
    until: datetime | None = None


async def open_for(store: Store, wanted: Wanted, terms: Terms) -> Opened:
    """Open a session. Its id is always new: none that a browser came with is ever used."""
    tenant = wanted.tenant
    shard = shard_in(tenant.id)

    async def work(tx: Tx) -> Opened:
        credential = credentials.new(mint(shard, tx.now))
        session = Session(
            id=credential.key_id,
            tenant_id=tenant.id,
            digest=credential.digest(),
            principal=wanted.principal,
            name=wanted.name[:200],
            groups=wanted.groups,
            key_id=wanted.key_id,
            created_at=tx.now,
            seen_at=tx.now,
            expires_at=min(tx.now + terms.life, wanted.until or tx.now + terms.life),
            idle_s=int(terms.idle.total_seconds()),
        )
        if not await sessions.create(tx, session, wanted.login):
            raise Unauthenticated("this login was used before")
        await _audit(tx, tenant.id, wanted.principal, "session.opened", session.public_id, {"name": session.name})
        return Opened(session, credential, tenant)

    return await behind(store, Behalf(tenant.id)).run(shard, work)


async def open_with_key(store: Store, caller: Caller, terms: Terms) -> Opened:
    """A session in the place of an API key: it may do what the key may, and ends with it at the latest."""
    key = caller.key
    return await open_for(store, Wanted(caller.tenant, key.principal, key.name, key_id=key.id), terms)


async def choices(store: Store, principals: Sequence[str], cells_down: set[str] | None = None) -> list[Tenant]:
    """The tenants in which these principals have any role, by name; without those of the cells that are down."""
    cells, down = behind(store, PLATFORM).cells, set() if cells_down is None else cells_down
    bound = await ask_cells(cells, lambda tx: bindings.tenants_of(tx, principals), down)
    ids = sorted({id_ for here in bound for id_ in here})
    found = await ask_cells(cells, lambda tx: tenants.named(tx, ids), down)
    return sorted(chain.from_iterable(found), key=lambda tenant: tenant.name)


async def open_as(store: Store, person: Person, terms: Terms, *, tenant: str | None, login: bytes) -> Opened:
    """A session of a person in the tenant they named, else in the first of theirs."""
    meant = [one for one in await choices(store, person.principals) if tenant in (None, one.name)]
    if not meant:
        where = "any tenant" if tenant is None else f"tenant {tenant!r}"
        raise Forbidden(f"{person.name or person.subject} has no role in {where}; an admin has to bind one")
    for one in meant:
        try:
            return await open_for(store, Wanted(one, person.principal, person.name, person.groups, login=login), terms)
        except HOME_DOWN as error:
            if tenant == one.name or one is meant[-1]:
                raise
            log.warning("login.home_down", tenant=one.name, reason=str(error))  # another of theirs will do
    raise AssertionError("unreachable")


async def move(store: Store, session: Session, tenant: str, terms: Terms) -> Opened:
    """A new session of the same person in another of their tenants, good for no longer than this one, which ends."""
    mine = [one for one in await choices(store, session.principals) if one.name == tenant]
    if not mine or session.key_id is not None:
        raise NotFound(f"there is no tenant {tenant!r} of yours")
    wanted = Wanted(mine[0], session.principal, session.name, session.groups, until=session.expires_at)
    opened = await open_for(store, wanted, terms)
    await end(store, session)
    return opened


async def end(store: Store, session: Session) -> int:
    """Log out; every process refuses the session within five seconds."""
    async with behind(store, Behalf(session.tenant_id)).statement(shard_in(session.id)) as tx:
        return int(await sessions.end(tx, session.tenant_id, session.id) is not None)


async def end_everywhere(store: Store, principal: str) -> int:
    """End every session of a principal, in all tenants; returns how many there were."""
    down: set[str] = set()
    ended = await ask_cells(behind(store, PLATFORM).cells, lambda tx: sessions.end_all(tx, principal), down)
    if down:
        raise Unavailable(f"{sum(ended)} sessions were ended; {', '.join(sorted(down))} cannot be reached, ask again")
    return sum(ended)


async def page(ctx: Context, after: UUID | None, limit: int) -> list[Session]:
    """The tenant's sessions that may still be good, oldest first."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await sessions.page(tx, ctx.tenant.id, after or UUID(int=0), limit)


async def revoke(ctx: Context, id_: UUID, name: str) -> None:
    """End someone's session; every process refuses it within five seconds."""
    shard = shard_in(ctx.tenant.id)

    async def work(tx: Tx) -> None:
        principal = await sessions.end(tx, ctx.tenant.id, id_) if shard_in(id_) == shard else None
        if principal is None:
            raise NotFound(f"there is no session {name} to end")
        await _audit(tx, ctx.tenant.id, ctx.actor, "session.revoked", name, {"principal": principal})

    await ctx.store.run(shard, work)


async def _audit(tx: Tx, tenant_id: UUID, actor: str, action: str, resource: str, detail: dict[str, Any]) -> None:
    shard = shard_in(tenant_id)
    id_ = mint(shard, tx.now)
    await audit.append(tx, shard, id_, tenant_id, actor=actor, action=action, resource=resource, detail=detail)
