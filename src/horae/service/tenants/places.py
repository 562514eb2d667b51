"""Where the names and business keys of a widened tenant are, and where new ones are created.

A row never moves, because its shard is part of its id. So a tenant that was widened has several placements: older rows
are in a former placement, new names and keys are created in the newest one. The same name must never exist in two
placements, although some process may not know the newest one yet. This is why it cannot:

1. Each cell counts, in the table `widening`, the widenings of a tenant that it knows. A statement that creates a name
   or a key reads this number, and writes nothing where it is greater than the number that its sender knows.
2. Such a statement reads `for key share`: it holds a ROW SHARE lock on the table from before its snapshot until the end
   of its transaction. Raising the number takes an EXCLUSIVE lock, which excludes all such statements, but no plain
   reader. So a process that sees the raised number in a cell also sees every row that was created there without knowing
   of it, and no further such row will be created.
3. A process that knows the newest placement looks in the newest shard first, then in the former ones. A former shard
   counts as empty only after the number is raised in its cell; the process that looks there raises it where needed.
4. A name that exists nowhere is created in the newest shard, where a unique index allows one. Every process that can
   still create names knows the newest placement, so there is only one such shard.
5. A process that did not know the newest placement, and was refused or found nothing, reads the tenant again and
   repeats its request (`retry_if_widened`).

A tenant that was never widened has one placement, and needs no lookup.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

from horae.domain.errors import Contended, NotFound, ShardClosed
from horae.domain.ids import shard_in
from horae.domain.jobs.jobs import Job
from horae.domain.placement import Placement
from horae.domain.tenants.tenants import Tenant
from horae.runtime.clock import boottime
from horae.service.context import Context
from horae.service.idempotent_store import IdempotentStore
from horae.store.jobs import jobs
from horae.store.protocol import CellProtocol
from horae.store.tasks import batches
from horae.store.tenants import tenants, widenings
from horae.store.tx import LOCKED, Tx

Result = TypeVar("Result")
TRIES: Final = 10
"""How often raising the number in a cell is tried."""
RETRY_PAUSE_S: Final = 0.2
"""Seconds between two such tries, each of which waits 0.2 s for its lock at most."""
CONTENDED_FOR_S: Final = 2.0
"""Seconds for which no other caller of the process tries again after it failed."""
REFUSED: Final = (Contended, NotFound, ShardClosed)
"""Errors that a caller may get because it does not know of a widening."""


async def refresh_tenant(ctx: Context) -> Context | None:
    """Returns the caller with the tenant as its home cell has it now; None where it was not widened since."""
    shard = shard_in(ctx.tenant.id)
    async with ctx.store.statement(shard) as tx:
        tenant = await tenants.find(tx, shard, ctx.tenant.name)
    if tenant is None or tenant.placements == ctx.tenant.placements:
        return None
    return ctx._replace(tenant=tenant)


async def retry_if_widened(ctx: Context, verb: Callable[[Context], Awaitable[Result]]) -> Result:
    """Run an operation, and run it again if it was refused and the tenant was widened in the meantime.

    Under an Idempotency-Key it is not repeated, because the key is bound to a shard. The caller has to ask again.
    """
    try:
        return await verb(ctx)
    except REFUSED:
        refreshed = None if isinstance(ctx.store, IdempotentStore) else await refresh_tenant(ctx)
        if refreshed is None:
            raise
        return await verb(refreshed)


async def shard_of_job(ctx: Context, name: str) -> int:
    """Returns the shard of the job of that name that is not removed; if there is none, the shard for a new one."""
    tenant = ctx.tenant
    newest = tenant.shard(name)
    if not tenant.former:
        return newest
    for number, placement in enumerate(tenant.placements):
        shard = placement.shard(shard_in(tenant.id), name)
        if number:
            await _raise_widenings(ctx, ctx.store.cell(shard))
        async with ctx.store.statement(shard) as tx:
            if await jobs.find(tx, shard, tenant.id, name, unreadable=True) is not None:
                return shard
    return newest


async def shards_of_keys(ctx: Context, job: Job, keys: Iterable[str]) -> dict[str, int]:
    """Returns the shard of each business key of a type: where it was ever used, else where it would be created."""
    tenant, own = ctx.tenant, f"{job.name}/"
    if not tenant.former or job.definition.width is not None or job.rolling:
        return _shards(tenant, tenant.fixed_placement(job.definition.width), own, keys)
    newest = found = _shards(tenant, tenant.placement, own, keys)
    left = await _unused_keys(ctx, job, newest)
    for placement in tenant.placements[1:]:
        if left:
            asked = _shards(tenant, placement, own, left)
            for cell in {ctx.store.cell(shard) for shard in asked.values()}:
                await _raise_widenings(ctx, cell)
            left = await _unused_keys(ctx, job, asked)
            found = found | {key: shard for key, shard in asked.items() if key not in left}
    return found


def _shards(tenant: Tenant, placement: Placement, own: str, keys: Iterable[str]) -> dict[str, int]:
    base = shard_in(tenant.id)
    return {key: placement.shard(base, own + key) for key in keys}


async def _unused_keys(ctx: Context, job: Job, asked: dict[str, int]) -> set[str]:
    """Returns the business keys that were never used in these shards."""
    parts: dict[CellProtocol, list[str]] = {}
    for key, shard in asked.items():
        parts.setdefault(ctx.store.cell(shard), []).append(key)
    left = set(asked)
    for cell, keys in parts.items():
        async with cell.statement() as tx:
            left -= await batches.used(tx, job.id, [asked[key] for key in keys], keys)
    return left


async def _raise_widenings(ctx: Context, cell: CellProtocol) -> None:
    """Make sure that a cell knows every widening that this process knows.

    One caller of a process raises the number in a cell at a time. After a failure the others do not try for a moment.
    """
    if await _knows_widenings(ctx, cell):
        return
    async with ctx.memory.raising[cell.name]:
        if await _knows_widenings(ctx, cell):
            return
        if boottime() < ctx.memory.contended.get((cell.name, ctx.tenant.id), 0.0):
            raise _contended_error(ctx.tenant)
        try:
            await raise_in(cell, ctx.tenant)
        except Contended:
            ctx.memory.contended[cell.name, ctx.tenant.id] = boottime() + CONTENDED_FOR_S
            raise


async def _knows_widenings(ctx: Context, cell: CellProtocol) -> bool:
    async with cell.statement() as tx:
        return await widenings.number(tx, ctx.tenant.id) >= len(ctx.tenant.former)


async def raise_in(cell: CellProtocol, tenant: Tenant) -> None:
    """Raise the number of a tenant's widenings in a cell. It waits for statements that create names or keys there."""

    async def work(tx: Tx) -> None:
        await widenings.careful(tx)
        await widenings.lock(tx)
        await widenings.write(tx, tenant.id, len(tenant.former))

    for _ in range(TRIES):
        try:
            return await cell.run(work)
        except LOCKED:
            await asyncio.sleep(RETRY_PAUSE_S)  # without a connection: statements that queued behind this one go first
    raise _contended_error(tenant)


def _contended_error(tenant: Tenant) -> Contended:
    return Contended(f"tenant {tenant.name!r} is being widened; ask again")
