"""Where the names and business keys of a tenant lie that was widened, and where new ones are made.

A row never moves, because its shard is in its id. So a tenant that was widened has several placements: what was made
before lies in a former one, new names and keys are made in the newest. A name must not come to lie in two of them,
although some process may not have heard of the newest yet. Why it cannot:

1. Each cell counts the widenings it heard of, in the table `widening`. Whoever makes a name or a key does so by a
   statement that reads this number, and writes nothing where it is greater than the number that its sender knows of.
2. Such a statement reads `for key share`: it holds a ROW SHARE lock on the table from before its snapshot until the end
   of its transaction. Whoever raises the number takes an EXCLUSIVE lock, which excludes all of those, and no plain
   reader. So who sees the number raised in a cell also sees everything that was made there in ignorance of it, and
   nothing more will be.
3. Whoever knows of the newest placement looks into the newest shard first, then into the former ones. Before a former
   one counts as empty, the number must be raised in its cell: whoever looks there raises it where it is not.
4. What lies nowhere is made in the newest shard, where a unique index lets one pass. All who may still make names know
   of the newest placement, so there is one such shard.
5. A process that was refused, or found nothing, in ignorance reads the tenant anew and asks again (`insisting`).

A tenant that was never widened has one placement: nothing is looked up for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

from horae.domain.errors import Contended, NotFound, ShardClosed
from horae.domain.ids import shard_in
from horae.domain.jobs import Job
from horae.domain.placement import Placement
from horae.domain.tenants import Tenant
from horae.runtime.clock import boottime
from horae.service.context import Context
from horae.store import jobs, task_batches, tenants, widenings
from horae.store.cells import Cell, Store
from horae.store.tx import LOCKED, Tx

Result = TypeVar("Result")
TRIES: Final = 10
PAUSE_S: Final = 0.2
"""Between two tries to tell a cell, each of which waits 0.2 s at most."""
CONTENDED_FOR_S: Final = 2.0
"""For so long nobody else of a process tries to tell a cell that could not be told."""
REFUSED: Final = (Contended, NotFound, ShardClosed)
"""What someone meets who has not heard of a widening."""


async def renewed(ctx: Context) -> Context | None:
    """The caller with the tenant as its home says; None: it was not widened since."""
    shard = shard_in(ctx.tenant.id)
    async with ctx.store.statement(shard) as tx:
        tenant = await tenants.find(tx, shard, ctx.tenant.name)
    if tenant is None or tenant.placements == ctx.tenant.placements:
        return None
    return ctx._replace(tenant=tenant)


async def insisting(ctx: Context, verb: Callable[[Context], Awaitable[Result]]) -> Result:
    """Do it, and again where the tenant was widened meanwhile.

    Under an Idempotency-Key it is refused: the key is bound to a shard. The caller asks again.
    """
    try:
        return await verb(ctx)
    except REFUSED:
        anew = await renewed(ctx) if isinstance(ctx.store, Store) else None
        if anew is None:
            raise
        return await verb(anew)


async def shard_of_job(ctx: Context, name: str) -> int:
    """Where the living job of that name is; where none is, where it would be made."""
    tenant = ctx.tenant
    newest = tenant.shard(name)
    if not tenant.former:
        return newest
    for number, placement in enumerate(tenant.placements):
        shard = placement.shard(shard_in(tenant.id), name)
        if number:
            await _raised(ctx, ctx.store.cell(shard))
        async with ctx.store.statement(shard) as tx:
            if await jobs.find(tx, shard, tenant.id, name) is not None:
                return shard
    return newest


async def shards_of_keys(ctx: Context, job: Job, keys: Iterable[str]) -> dict[str, int]:
    """The shard of each key of a type: where it was ever used; where it never was, where it would be made."""
    tenant, own = ctx.tenant, f"{job.name}/"
    if not tenant.former or job.definition.width is not None or job.rolling:
        return _shards(tenant, tenant.fixed(job.definition.width), own, keys)
    newest = found = _shards(tenant, tenant.placement, own, keys)
    left = await _unused(ctx, job, newest)
    for placement in tenant.placements[1:]:
        if left:
            asked = _shards(tenant, placement, own, left)
            for cell in {ctx.store.cell(shard) for shard in asked.values()}:
                await _raised(ctx, cell)
            left = await _unused(ctx, job, asked)
            found = found | {key: shard for key, shard in asked.items() if key not in left}
    return found


def _shards(tenant: Tenant, placement: Placement, own: str, keys: Iterable[str]) -> dict[str, int]:
    base = shard_in(tenant.id)
    return {key: placement.shard(base, own + key) for key in keys}


async def _unused(ctx: Context, job: Job, asked: dict[str, int]) -> set[str]:
    """Those of the keys that were never used in these shards."""
    parts: dict[Cell, list[str]] = {}
    for key, shard in asked.items():
        parts.setdefault(ctx.store.cell(shard), []).append(key)
    left = set(asked)
    for cell, keys in parts.items():
        async with cell.statement() as tx:
            left -= await task_batches.used(tx, job.id, [asked[key] for key in keys], keys)
    return left


async def _raised(ctx: Context, cell: Cell) -> None:
    """See that a cell has heard of every widening that we know of, or tell it.

    One caller of a process tells a cell at a time. Where that failed, the others do not try again for a moment.
    """
    if await _has_heard(ctx, cell):
        return
    async with ctx.memory.raising[cell.name]:
        if await _has_heard(ctx, cell):
            return
        if boottime() < ctx.memory.contended.get((cell.name, ctx.tenant.id), 0.0):
            raise _contended(ctx.tenant)
        try:
            await raise_in(cell, ctx.tenant)
        except Contended:
            ctx.memory.contended[cell.name, ctx.tenant.id] = boottime() + CONTENDED_FOR_S
            raise


async def _has_heard(ctx: Context, cell: Cell) -> bool:
    async with cell.statement() as tx:
        return await widenings.number(tx, ctx.tenant.id) >= len(ctx.tenant.former)


async def raise_in(cell: Cell, tenant: Tenant) -> None:
    """Tell a cell how often a tenant was widened; it waits for whoever is making a name or a key there."""

    async def work(tx: Tx) -> None:
        await widenings.careful(tx)
        await widenings.lock(tx)
        await widenings.write(tx, tenant.id, len(tenant.former))

    for _ in range(TRIES):
        try:
            return await cell.run(work)
        except LOCKED:
            await asyncio.sleep(PAUSE_S)  # without a connection: those who queued behind us go first
    raise _contended(tenant)


def _contended(tenant: Tenant) -> Contended:
    return Contended(f"tenant {tenant.name!r} is being widened; ask again")
