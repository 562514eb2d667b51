"""Findings about the place of a row: the tenant as a whole, the clock of the cell, and the node of the shard."""

from horae.domain.tenants.tenants import TenantStatus
from horae.service.context import Context
from horae.service.explanations.findings import Finding, FindingCode, utc
from horae.store.nodes import leases, shards
from horae.store.tenants import tenants
from horae.store.tx import Tx


async def find_of_place(ctx: Context, shard: int) -> list[Finding]:
    """Returns what keeps the node of a shard from firing anything there; and which node it is."""
    async with ctx.store.statement(shard) as tx:
        found = [await _tenant_finding(ctx, tx), _clock_finding(ctx, shard), await _lease_finding(ctx, tx, shard)]
    return [one for one in found if one is not None]


async def _tenant_finding(ctx: Context, tx: Tx) -> Finding | None:
    held = await tenants.holding(tx, ctx.tenant.id)
    if held is None:
        return None
    name = ctx.tenant.name
    advice = f"; `horae tenant resume {name}` lets it continue" if held == TenantStatus.PAUSED else ""
    text = f"tenant {name} is {held}, so nothing of it fires{advice}"
    return Finding(FindingCode.TENANT_HELD, text, {"tenant": name, "status": held})


def _clock_finding(ctx: Context, shard: int) -> Finding | None:
    cell = ctx.store.cell(shard)
    if cell.clock.trusted:
        return None
    ahead_s = cell.clock.ahead.total_seconds()
    text = (
        f"the clock of {cell.name} has jumped by {ahead_s:.0f} s, so nothing fires there; `horae cell trust-clock "
        f"{cell.name}` confirms it when it is right"
    )
    return Finding(FindingCode.CLOCK_UNTRUSTED, text, {"cell": cell.name, "ahead_s": ahead_s})


async def _lease_finding(ctx: Context, tx: Tx, shard: int) -> Finding:
    cell = ctx.store.cell(shard)
    facts: dict[str, object] = {"cell": cell.name, "shard": shard}
    owner = next((row.owner for row in await shards.listing(tx, shard - 1, 1) if row.shard == shard), None)
    node = next((one for one in await leases.nodes(tx) if one.incarnation == owner), None)
    if node is None:
        text = f"no node leases shard {shard} of {cell.name}, so nothing fires there; start `horae node`"
        return Finding(FindingCode.NOT_LEASED, text, facts)
    facts |= {"node": node.name, "until": node.expires_at, "seen_at": node.seen_at}
    if not node.alive:
        text = (
            f"node {node.name} leased shard {shard} of {cell.name} until {utc(node.expires_at)} and is gone; no other "
            "node has taken it"
        )
        return Finding(FindingCode.NOT_LEASED, text, facts)
    text = f"node {node.name} leases shard {shard} of {cell.name} until {utc(node.expires_at)}"
    return Finding(FindingCode.LEASED, text, facts)
