"""Tenants: created in their home cell, and copied to every other cell."""

from collections.abc import Collection
from itertools import chain
from typing import Final
from uuid import UUID

from horae.domain.errors import Conflict, Contended, KeysUnavailable, NotFound, ShardClosed
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, private, public, shard_in
from horae.domain.placement import DEFAULT_WIDTH, home_of
from horae.domain.tenants import tenants as rules
from horae.domain.tenants.tenants import SYSTEM, Allowance, Tenant
from horae.domain.zones.zones import zone as load_zone
from horae.runtime.randomness import new_id
from horae.runtime.telemetry import log
from horae.service.context import CallerContext, Context, ask_cells
from horae.service.tenants import places
from horae.service.tenants.changes import record_event
from horae.store.connections.each_cell import HOME_DOWN, ask_first
from horae.store.encryption import data_keys
from horae.store.protocol import StoreProtocol
from horae.store.row_level_security import PLATFORM, Behalf, restrict
from horae.store.tenants import tenants
from horae.store.tx import GONE, Tx

NO_ANSWER_ERRORS: Final[tuple[type[Exception], ...]] = (Contended, *GONE)
"""Errors after which a cell does not know of a widening yet."""


async def create(ctx: CallerContext, name: str, *, width: int = DEFAULT_WIDTH, zone: str = "UTC") -> Tenant:
    """Create a tenant whose rows are spread over `width` shards."""
    rules.check(name, width)
    load_zone(zone)
    store, shard = ctx.store, home_of(name)
    tenant = Tenant(new_id(shard, store.cell(shard).clock.now()), name, width, zone)

    wrapped = await _first_key(store, tenant)

    async def work(tx: Tx) -> Tenant:
        if not await tenants.create(tx, tenant):
            raise Conflict(f"a tenant {name!r} exists already; if it does not, its shard is moving: ask again")
        if wrapped is not None:
            await data_keys.create(tx, tenant.id, 1, wrapped)
        body = {"id": tenant.id, "name": name, "width": width, "zone": zone, "layout": tenant.layout}
        await tenants.publish(tx, tenant.id)
        await record_event(tx, shard, tenant, Event.TENANT_CREATED, ctx.actor, public(Prefix.TENANT, tenant.id), body)
        return tenant

    return await restrict(store, Behalf(tenant.id)).run(shard, work)


async def _first_key(store: StoreProtocol, tenant: Tenant) -> str | None:
    """Returns a first data key. If the keyring is unavailable, the key is made when something has to be encrypted."""
    try:
        return await store.cipher.make(tenant.id, 1)
    except KeysUnavailable:
        return None


async def allow(ctx: CallerContext, name: str, allowance: Allowance, *, read: Allowance | None = None) -> Tenant:
    """Set all limits of a tenant; every node knows them within a few seconds.

    With `read`, nothing is changed where other limits are in force by now. A repeated request finds its own limits, and
    succeeds again.
    """
    shard = home_of(name)
    found = await find(ctx.store, name)

    async def work(tx: Tx) -> Tenant:
        before = await tenants.lock_allowance(tx, shard, name) or Allowance()
        if read is not None and before not in (read, allowance):
            raise Conflict(f"somebody else has changed the allowance of tenant {name!r}; read it again")
        tenant = await tenants.allow(tx, shard, name, allowance)
        if tenant is None:
            raise ShardClosed(f"the shard of tenant {name!r} is moving; nothing was changed")
        body = {
            "id": tenant.id,
            "name": name,
            "width": tenant.width,
            "zone": tenant.zone,
            "layout": tenant.layout,
            "allowance": allowance,
        }
        await tenants.publish(tx, tenant.id)
        await record_event(tx, shard, tenant, Event.TENANT_ALLOWED, ctx.actor, public(Prefix.TENANT, tenant.id), body)
        return tenant

    return await restrict(ctx.store, Behalf(found.id)).run(shard, work)


async def widen(ctx: CallerContext, name: str, width: int) -> Tenant:
    """Spread the new names and business keys of a tenant over more shards. Existing rows stay where they are.

    A process that does not know of it finds out when it creates a name or a key (`horae.service.tenants.places`).
    """
    before = await find(ctx.store, name)
    after, shard = before.with_wider_placement(width), home_of(name)
    restricted = restrict(ctx.store, Behalf(before.id))

    async def work(tx: Tx) -> None:
        if not await tenants.widen(tx, after):
            raise Conflict(f"tenant {name!r} was widened meanwhile, or its shard is moving; ask again")
        body = {"id": after.id, "name": name, "width": width, "layout": after.layout, "former": after.former}
        await tenants.publish(tx, after.id)
        await record_event(tx, shard, after, Event.TENANT_WIDENED, ctx.actor, public(Prefix.TENANT, after.id), body)

    await restricted.run(shard, work)
    for cell in restricted.cells:
        try:
            await places.raise_in(cell, after)
        except NO_ANSWER_ERRORS:
            log.warning("tenant.widening_incomplete", cell=cell.name, tenant=name)  # a later creation there retries it
    return after


async def allowance(ctx: Context) -> Allowance:
    """Returns the limits of the caller's tenant, from its home cell or the first copy that answers."""
    cells = ctx.store.home_first(shard_in(ctx.tenant.id))
    found = await ask_first(cells, lambda tx: tenants.allowances(tx, [ctx.tenant.id])) or {}
    return found.get(ctx.tenant.id, Allowance())


async def page(ctx: CallerContext, after: str | None, limit: int) -> list[tuple[Tenant, Allowance]]:
    """Returns all tenants of all cells by name. Cells that are down are left out and recorded."""
    cells = restrict(ctx.store, PLATFORM).cells
    found = await ask_cells(cells, lambda tx: tenants.page(tx, after or "", limit), ctx.cells_down)
    return sorted(chain.from_iterable(found), key=lambda one: one[0].name)[:limit]


async def read(ctx: CallerContext, ref: str) -> tuple[Tenant, Allowance]:
    """Returns the tenant of an id or a name, with its limits."""
    tenant = await find_by_ref(ctx, ref)
    async with restrict(ctx.store, Behalf(tenant.id)).statement(shard_in(tenant.id)) as tx:
        found = await tenants.known(tx, tenant.id)
    return found or (tenant, Allowance())


async def find_by_ref(ctx: CallerContext, ref: str) -> Tenant:
    """Returns the tenant of a public id or a name."""
    try:
        id_ = private(Prefix.TENANT, ref)
    except NotFound:
        return await find(ctx.store, ref)
    async with restrict(ctx.store, Behalf(id_)).statement(shard_in(id_)) as tx:
        found = await tenants.known(tx, id_)
    if found is None:
        raise NotFound(f"there is no tenant {ref!r}")
    return found[0]


async def find(store: StoreProtocol, name: str) -> Tenant:
    """Returns the tenant of that name; while its home cell is down, a copy of it."""
    platform, shard = restrict(store, PLATFORM), home_of(name)
    try:
        async with platform.statement(shard) as tx:
            tenant = await tenants.find(tx, shard, name)
    except HOME_DOWN:
        tenant = await ask_first(platform.home_first(shard), lambda tx: tenants.find_copy(tx, name))
        if tenant is None:
            raise
    if tenant is None:
        raise NotFound(f"there is no tenant {name!r}; `horae tenant create {name}` makes one")
    return tenant


async def names(ctx: CallerContext, ids: Collection[UUID]) -> dict[UUID, str]:
    """Returns the names of these tenants. Removed ones and those of cells that are down are missing."""
    if not ids:
        return {}
    cells = restrict(ctx.store, PLATFORM).cells
    found = await ask_cells(cells, lambda tx: tenants.named(tx, sorted(ids)), ctx.cells_down)
    return {tenant.id: tenant.name for tenant in chain.from_iterable(found)}


async def find_platform(ctx: CallerContext) -> Tenant:
    """Returns the tenant `system`. Creates it where nobody needed it before: it owns the audit rows of the platform."""
    try:
        return await find(ctx.store, SYSTEM)
    except NotFound:
        return await create(ctx, SYSTEM, width=1)


async def context_of(ctx: Context, ref: str) -> Context:
    """Returns a context in which an admin of the platform works in another tenant."""
    tenant = await find_by_ref(ctx, ref)
    speaking = Context.of(restrict(ctx.store, Behalf(tenant.id)), tenant, ctx.actor)
    return speaking._replace(cells_down=ctx.cells_down)
