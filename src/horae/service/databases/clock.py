"""The clocks of cells, as a person sets them. Each change is audited in its own transaction, with the reason."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from horae.domain.errors import NotFound
from horae.domain.tenants.tenants import Tenant
from horae.service.audit.audit import record_rescue
from horae.service.context import CallerContext
from horae.service.tenants import tenants
from horae.store.databases import clock
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx

MOVED = "clock.moved"
TRUSTED = "clock.trusted"


async def move(ctx: CallerContext, by: timedelta, reason: str) -> Sequence[CellProtocol]:
    """Move the clock of every cell, and return the cells. Refused in production."""
    platform = await tenants.find_platform(ctx)
    for cell in ctx.store.cells:
        detail = {"reason": reason, "seconds": by.total_seconds()}
        await _change(ctx, platform, cell, lambda tx: clock.move(tx, by), MOVED, detail)
        await cell.sync_clock()
    return ctx.store.cells


async def trust(ctx: CallerContext, name: str | None, reason: str) -> Sequence[CellProtocol]:
    """Confirm that the clock of one cell, or of all, is right, and return these cells."""
    meant = [cell for cell in ctx.store.cells if name in (None, cell.name)]
    if not meant:
        raise NotFound(f"there is no cell {name!r}")
    platform = await tenants.find_platform(ctx)
    for cell in meant:
        await _change(ctx, platform, cell, clock.vouch, TRUSTED, {"reason": reason})
    return meant


async def _change(
    ctx: CallerContext,
    platform: Tenant,
    cell: CellProtocol,
    change: Callable[[Tx], Awaitable[None]],
    action: str,
    detail: dict[str, object],
) -> None:
    """Change the clock of a cell and write the audit row there, in one transaction: a clock has no shard."""

    async def work(tx: Tx) -> None:
        await change(tx)
        await record_rescue(ctx, tx, platform, action, f"cell/{cell.name}", detail)

    await cell.run(work)
