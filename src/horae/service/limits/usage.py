"""How much of each of its limits a tenant uses now.

Counts, logged bytes, retries that are left and permits in use are read from the cells. A rate has no figure of use:
what it holds back is a hold. Requests are counted by each API process for itself, so no process knows their sum.
"""

from typing import NamedTuple

from horae.domain.ids import shard_in
from horae.domain.limits.counts import CountedKind
from horae.domain.limits.limits import Key, Limit, key_name
from horae.domain.limits.usage import LimitUse, UsageKind, nearest_first
from horae.domain.tenants.tenants import Allowance, Tenant
from horae.service.context import CallerContext, Context
from horae.service.limits import retry_budgets
from horae.service.tenants import tenants
from horae.store.limits import counts, quotas
from horae.store.row_level_security import Behalf, restrict
from horae.store.tx import GONE, Tx


class TenantUsage(NamedTuple):
    """The uses of one tenant, nearest to its limit first."""

    tenant: Tenant
    uses: list[LimitUse]


class CellLimitUse(NamedTuple):
    """The counts and permits of a tenant in one cell."""

    counts: dict[str, int]
    permits: dict[str, int]


async def of_tenant(ctx: Context, allowance: Allowance) -> TenantUsage:
    """Returns the uses of the tenant of a context. What lies in a cell that is down is missing."""
    permitted = {name: limit for name, limit in _named_limits(allowance).items() if limit.concurrency is not None}
    keys = [Key(ctx.tenant.id, name) for name in permitted]

    async def look(tx: Tx) -> CellLimitUse:
        return CellLimitUse(await counts.usage(tx, ctx.tenant.id), await quotas.permits(tx, keys) if keys else {})

    cells = await ctx.ask_each(look)
    home, retries = await _at_home(ctx), await _retries(ctx, allowance.retries)
    counted = [*(cell.counts for cell in cells), home]
    uses = [
        LimitUse(UsageKind(kind), sum(one.get(kind, 0) for one in counted), allowance.counts.most(kind))
        for kind in CountedKind
    ]
    logged = sum(one.get(UsageKind.LOG_BYTES, 0) for one in counted)
    uses.append(LimitUse(UsageKind.LOG_BYTES, logged, allowance.log_bytes))
    for name, limit in permitted.items():
        held = sum(cell.permits.get(name, 0) for cell in cells)
        uses.append(LimitUse(UsageKind.PERMITS, held, limit.concurrency or 0, name))
    return TenantUsage(ctx.tenant, nearest_first([*uses, *retries]))


async def page(ctx: CallerContext, after: str | None, limit: int) -> list[TenantUsage]:
    """Returns the uses of all tenants, by the name of the tenant. Only for the platform."""
    found = []
    for tenant, allowance in await tenants.page(ctx, after, limit):
        speaking = Context.of(restrict(ctx.store, Behalf(tenant.id)), tenant, ctx.actor)
        found.append(await of_tenant(speaking._replace(cells_down=ctx.cells_down), allowance))
    return found


def _named_limits(allowance: Allowance) -> dict[str, Limit]:
    """Returns the limits of a tenant over its calls, by the names of their keys."""
    own = {} if allowance.limit is None else {"tenant": allowance.limit}
    return own | {key_name("quota", name): limit for name, limit in allowance.quotas.items()}


async def _at_home(ctx: Context) -> dict[str, int]:
    """Returns what lies in the tenant's home shard; nothing where its cell is down."""
    home = shard_in(ctx.tenant.id)
    try:
        async with ctx.store.statement(home) as tx:
            return await counts.usage_at_home(tx, ctx.tenant.id)
    except GONE:
        ctx.cells_down.add(ctx.store.cell(home).name)
        return {}


async def _retries(ctx: Context, limit: Limit) -> list[LimitUse]:
    """Returns the use of the retry budget; nothing where its cell is down, or where it has no rate."""
    if limit.rate is None:
        return []
    key = Key(ctx.tenant.id, retry_budgets.NAME)
    try:
        async with ctx.store.statement(key.shard) as tx:
            left = await quotas.left_in(tx, key, limit)
    except GONE:
        ctx.cells_down.add(ctx.store.cell(key.shard).name)
        return []
    most = int(limit.depth)
    return [LimitUse(UsageKind.RETRIES, most - min(most, int(left)), most)]
