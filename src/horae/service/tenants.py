"""Tenants: made once, at home, and copied to every cell."""

from collections.abc import Callable
from itertools import chain
from typing import Final

from horae.domain import tenants as rules
from horae.domain.errors import Conflict, Contended, KeysUnavailable, NotFound, ShardClosed
from horae.domain.events import Event
from horae.domain.ids import Prefix, private, public, shard_in
from horae.domain.placement import DEFAULT_WIDTH, home_of
from horae.domain.tenants import Allowance, Tenant
from horae.domain.zones import zone as load_zone
from horae.runtime.chance import mint
from horae.runtime.telemetry import log
from horae.service import places
from horae.service.context import Context, ask_cells
from horae.service.told import tell
from horae.store import data_keys, tenants
from horae.store.cells import Store
from horae.store.each import HOME_DOWN, ask_first
from horae.store.tx import GONE, Tx
from horae.store.walls import PLATFORM, Behalf, behind

UNHEARD: Final[tuple[type[Exception], ...]] = (Contended, *GONE)
"""Why a cell could not be told of a widening."""


async def create(store: Store, name: str, actor: str, *, width: int = DEFAULT_WIDTH, zone: str = "UTC") -> Tenant:
    """A new tenant, whose rows are spread over `width` shards."""
    rules.check(name, width)
    load_zone(zone)
    shard = home_of(name)
    tenant = Tenant(mint(shard, store.cell(shard).clock.now()), name, width, zone)

    wrapped = await _first_key(store, tenant)

    async def work(tx: Tx) -> Tenant:
        if not await tenants.create(tx, tenant):
            raise Conflict(f"a tenant {name!r} exists already, or its shard is moving")
        if wrapped is not None:
            await data_keys.create(tx, tenant.id, 1, wrapped)
        body = {"id": tenant.id, "name": name, "width": width, "zone": zone, "layout": tenant.layout}
        await tenants.publish(tx, tenant.id)
        await tell(tx, shard, tenant, Event.TENANT_CREATED, actor, public(Prefix.TENANT, tenant.id), body)
        return tenant

    return await behind(store, Behalf(tenant.id)).run(shard, work)


async def _first_key(store: Store, tenant: Tenant) -> str | None:
    """A data key to begin with. Where none can be had now, it is made when something has to be sealed."""
    try:
        return await store.sealing.make(tenant.id, 1)
    except KeysUnavailable:
        return None


async def allow(store: Store, name: str, actor: str, allowance: Allowance) -> Tenant:
    """Set all that a tenant may use; every node knows within a few seconds."""
    return (await change_allowance(store, name, actor, lambda _before: allowance))[0]


async def change_allowance(
    store: Store, name: str, actor: str, change: Callable[[Allowance], Allowance]
) -> tuple[Tenant, Allowance]:
    """Change what a tenant may use, starting from what it may use now; returns that, too."""
    shard = home_of(name)
    found = await find(store, name)

    async def work(tx: Tx) -> tuple[Tenant, Allowance]:
        before = await tenants.lock_allowance(tx, shard, name)
        allowance = change(before or Allowance())
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
        await tell(tx, shard, tenant, Event.TENANT_ALLOWED, actor, public(Prefix.TENANT, tenant.id), body)
        return tenant, allowance

    return await behind(store, Behalf(found.id)).run(shard, work)


async def widen(store: Store, name: str, actor: str, width: int) -> Tenant:
    """Spread the new names and keys of a tenant over more shards. What it has stays where it is, and goes on.

    Processes that have not heard of it find out when they would make a name or a key (`horae.service.places`).
    """
    before = await find(store, name)
    after, shard = before.widened(width), home_of(name)
    walled = behind(store, Behalf(before.id))

    async def work(tx: Tx) -> None:
        if not await tenants.widen(tx, after):
            raise Conflict(f"tenant {name!r} was widened meanwhile, or its shard is moving; ask again")
        body = {"id": after.id, "name": name, "width": width, "layout": after.layout, "former": after.former}
        await tenants.publish(tx, after.id)
        await tell(tx, shard, after, Event.TENANT_WIDENED, actor, public(Prefix.TENANT, after.id), body)

    await walled.run(shard, work)
    for cell in walled.cells:
        try:
            await places.raise_in(cell, after)
        except UNHEARD:
            log.warning("tenant.widened_unheard", cell=cell.name, tenant=name)  # whoever makes a key there tells it
    return after


async def allowance(ctx: Context) -> Allowance:
    """What the caller's tenant may use, as the copy next to it says."""
    cells = ctx.store.home_first(shard_in(ctx.tenant.id))
    found = await ask_first(cells, lambda tx: tenants.allowances(tx, [ctx.tenant.id])) or {}
    return found.get(ctx.tenant.id, Allowance())


async def page(
    store: Store, after: str | None, limit: int, cells_down: set[str] | None = None
) -> list[tuple[Tenant, Allowance]]:
    """All tenants by name, over all cells; those that are down are named in `cells_down`."""
    cells, down = behind(store, PLATFORM).cells, set() if cells_down is None else cells_down
    found = await ask_cells(cells, lambda tx: tenants.page(tx, after or "", limit), down)
    return sorted(chain.from_iterable(found), key=lambda one: one[0].name)[:limit]


async def read(store: Store, ref: str) -> tuple[Tenant, Allowance]:
    """The tenant of that id or name, with what it may use."""
    tenant = await named(store, ref)
    async with behind(store, Behalf(tenant.id)).statement(shard_in(tenant.id)) as tx:
        found = await tenants.known(tx, tenant.id)
    return found or (tenant, Allowance())


async def named(store: Store, ref: str) -> Tenant:
    """The tenant behind a public id or a name."""
    try:
        id_ = private(Prefix.TENANT, ref)
    except NotFound:
        return await find(store, ref)
    async with behind(store, Behalf(id_)).statement(shard_in(id_)) as tx:
        found = await tenants.known(tx, id_)
    if found is None:
        raise NotFound(f"there is no tenant {ref!r}")
    return found[0]


async def find(store: Store, name: str) -> Tenant:
    """The tenant of that name; while its home is down, as a copy has it."""
    platform, shard = behind(store, PLATFORM), home_of(name)
    try:
        async with platform.statement(shard) as tx:
            tenant = await tenants.find(tx, shard, name)
    except HOME_DOWN:
        tenant = await ask_first(platform.home_first(shard), lambda tx: tenants.copied(tx, name))
        if tenant is None:
            raise
    if tenant is None:
        raise NotFound(f"there is no tenant {name!r}; `horae tenant create {name}` makes one")
    return tenant


async def speaking_for(ctx: Context, ref: str) -> Context:
    """The platform's admin at work in another tenant."""
    tenant = await named(ctx.store, ref)
    speaking = Context.of(behind(ctx.store, Behalf(tenant.id)), tenant, ctx.actor)
    return speaking._replace(cells_down=ctx.cells_down)
