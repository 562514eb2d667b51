"""Findings about the place of a row: the tenant as a whole, the clock of the cell, and the node of the shard."""

from horae.domain.explanations.findings import DecidingRow, Finding, FindingCode, RowKind
from horae.service.context import Context
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
    return Finding(
        FindingCode.TENANT_HELD, {"tenant": name, "status": held.value}, (DecidingRow(RowKind.TENANT, name),)
    )


def _clock_finding(ctx: Context, shard: int) -> Finding | None:
    cell = ctx.store.cell(shard)
    if cell.clock.trusted:
        return None
    facts = {"cell": cell.name, "ahead_s": cell.clock.ahead.total_seconds()}
    return Finding(FindingCode.CLOCK_UNTRUSTED, facts, (DecidingRow(RowKind.CELL, cell.name),))


async def _lease_finding(ctx: Context, tx: Tx, shard: int) -> Finding:
    cell = ctx.store.cell(shard)
    facts: dict[str, object] = {"cell": cell.name, "shard": shard}
    owner = next((row.owner for row in await shards.listing(tx, shard - 1, 1) if row.shard == shard), None)
    node = next((one for one in await leases.nodes(tx) if one.incarnation == owner), None)
    if node is None:
        return Finding(FindingCode.NOT_LEASED, facts, (DecidingRow(RowKind.CELL, cell.name),))
    facts |= {"node": node.name, "until": node.expires_at, "seen_at": node.seen_at}
    code = FindingCode.LEASED if node.alive else FindingCode.NOT_LEASED
    return Finding(code, facts, (DecidingRow(RowKind.NODE, node.name),))
