"""Sessions of people and API keys: open one, move it to another tenant, end it.

The row is authoritative. A cookie only names the row and proves the right to it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from horae.domain.errors import Forbidden, NotFound, Unauthenticated, Unavailable
from horae.domain.identity.people import LONGEST_PERSON_NAME, Person, Session
from horae.domain.ids import shard_in
from horae.domain.tenants.tenants import Tenant
from horae.runtime.randomness import new_id
from horae.runtime.telemetry import log
from horae.security import credentials
from horae.security.credentials import Credential
from horae.service.context import CallerContext, Context, ask_cells
from horae.service.identity.callers import Caller
from horae.store.audit import audit
from horae.store.connections.each_cell import HOME_DOWN
from horae.store.identity import role_bindings, sessions
from horae.store.protocol import StoreProtocol
from horae.store.row_level_security import PLATFORM, Behalf, restrict
from horae.store.tenants import tenants
from horae.store.tx import Tx


class Terms(NamedTuple):
    """How long a session may stay unused, and how long it lasts at most."""

    idle: timedelta = timedelta(hours=1)
    life: timedelta = timedelta(hours=12)


class OpenedSession(NamedTuple):
    """A new session, and the only copy of its credential."""

    session: Session
    credential: Credential
    tenant: Tenant


class SessionRequest(NamedTuple):
    """A session to open.

    `login` is the digest of the login it comes from; one login opens one session. The session ends at `until` at the
    latest.
    """

    tenant: Tenant
    principal: str
    name: str
    groups: tuple[str, ...] = ()
    key_id: UUID | None = None
    login: bytes | None = None
    until: datetime | None = None


async def open_for(ctx: CallerContext, wanted: SessionRequest, terms: Terms) -> OpenedSession:
    """Open a session. Its id is always new, so an id that a browser presents is never reused."""
    tenant = wanted.tenant
    shard = shard_in(tenant.id)

    async def work(tx: Tx) -> OpenedSession:
        credential = credentials.new_credential(new_id(shard, tx.now))
        session = Session(
            id=credential.key_id,
            tenant_id=tenant.id,
            digest=credential.digest(),
            principal=wanted.principal,
            name=wanted.name[:LONGEST_PERSON_NAME],
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
        return OpenedSession(session, credential, tenant)

    return await restrict(ctx.store, Behalf(tenant.id)).run(shard, work)


async def open_with_key(ctx: CallerContext, caller: Caller, terms: Terms) -> OpenedSession:
    """Open a session for an API key: it has the rights of the key, and ends with the key at the latest."""
    key = caller.key
    if key.job_labels:
        raise Forbidden("a key that is bound to some jobs cannot open a session; log in with another one")
    return await open_for(ctx, SessionRequest(caller.tenant, key.principal, key.name, key_id=key.id), terms)


async def tenants_of(ctx: CallerContext, principals: Sequence[str]) -> list[Tenant]:
    """Returns the tenants in which these principals have a role, by name.

    Tenants of cells that are down are missing. The names of those cells go into `ctx.cells_down`.
    """
    return await _choices(ctx.store, principals, ctx.cells_down)


async def _choices(store: StoreProtocol, principals: Sequence[str], down: set[str]) -> list[Tenant]:
    cells = restrict(store, PLATFORM).cells
    bound = await ask_cells(cells, lambda tx: role_bindings.tenants_of(tx, principals), down)
    ids = sorted({id_ for here in bound for id_ in here})
    found = await ask_cells(cells, lambda tx: tenants.named(tx, ids), down)
    return sorted(chain.from_iterable(found), key=lambda tenant: tenant.name)


async def open_as(
    ctx: CallerContext, person: Person, terms: Terms, *, tenant: str | None, login: bytes
) -> OpenedSession:
    """Open a session of a person in the tenant they named, else in the first tenant where they have a role."""
    meant = [one for one in await tenants_of(ctx, person.principals) if tenant in (None, one.name)]
    if not meant:
        where = "any tenant" if tenant is None else f"tenant {tenant!r}"
        raise Forbidden(f"{person.name or person.subject} has no role in {where}; an admin has to bind one")
    for one in meant:
        try:
            return await open_for(
                ctx, SessionRequest(one, person.principal, person.name, person.groups, login=login), terms
            )
        except HOME_DOWN as error:
            if tenant == one.name or one is meant[-1]:
                raise
            log.warning("login.tenant_unavailable", tenant=one.name, reason=str(error))  # try the person's next tenant
    raise AssertionError("unreachable")


async def move(ctx: CallerContext, session: Session, tenant: str, terms: Terms) -> OpenedSession:
    """Replace a session by one of the same person in another of their tenants. It expires when the old one would."""
    missing = set[str]()  # the answer is about one tenant, and leaves nothing out
    mine = [one for one in await _choices(ctx.store, session.principals, missing) if one.name == tenant]
    if not mine or session.key_id is not None:
        raise NotFound(f"there is no tenant {tenant!r} of yours")
    wanted = SessionRequest(mine[0], session.principal, session.name, session.groups, until=session.expires_at)
    opened = await open_for(ctx, wanted, terms)
    await end(ctx, session)
    return opened


async def end(ctx: CallerContext, session: Session) -> int:
    """Log out; every process refuses the session within five seconds."""
    async with restrict(ctx.store, Behalf(session.tenant_id)).statement(shard_in(session.id)) as tx:
        return int(await sessions.end(tx, session.tenant_id, session.id) is not None)


async def end_everywhere(ctx: CallerContext, principal: str) -> int:
    """End every session of a principal in all tenants. Returns how many there were."""
    down: set[str] = set()
    ended = await ask_cells(restrict(ctx.store, PLATFORM).cells, lambda tx: sessions.end_all(tx, principal), down)
    if down:
        raise Unavailable(f"{sum(ended)} sessions were ended; {', '.join(sorted(down))} cannot be reached, ask again")
    return sum(ended)


async def page(ctx: Context, after: UUID | None, limit: int) -> list[Session]:
    """Returns the tenant's sessions that may still be valid, oldest first."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await sessions.page(tx, ctx.tenant.id, after or UUID(int=0), limit)


async def revoke(ctx: Context, id_: UUID, name: str) -> None:
    """End the session of another person or key; every process refuses it within five seconds."""
    shard = shard_in(ctx.tenant.id)

    async def work(tx: Tx) -> None:
        principal = await sessions.end(tx, ctx.tenant.id, id_) if shard_in(id_) == shard else None
        if principal is None:
            raise NotFound(f"there is no session {name} to end")
        await _audit(tx, ctx.tenant.id, ctx.actor, "session.revoked", name, {"principal": principal})

    await ctx.store.run(shard, work)


async def _audit(tx: Tx, tenant_id: UUID, actor: str, action: str, resource: str, detail: dict[str, Any]) -> None:
    shard = shard_in(tenant_id)
    id_ = new_id(shard, tx.now)
    await audit.append(tx, shard, id_, tenant_id, actor=actor, action=action, resource=resource, detail=detail)
