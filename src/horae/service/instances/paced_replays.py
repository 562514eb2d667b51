"""Paced replays: start, read and stop them. `service/instances/paced_steps.py` does their steps."""

from itertools import chain
from typing import Final
from uuid import UUID

from horae.domain.errors import Conflict, NotFound, ShardClosed
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.dead_letters import DeadLetterFilter
from horae.domain.instances.paced_replays import (
    DEFAULT_PACE,
    MAX_RUNNING,
    PacedReplay,
    check_paced_replay,
    first_status,
)
from horae.runtime.randomness import new_id
from horae.service.audit.audit import record
from horae.service.context import Context
from horae.store.instances import paced_replays
from horae.store.tx import Tx

__all__ = ["LAST_ID", "PacedReplay", "listing", "shard_of", "show", "start", "stop"]
LAST_ID: Final = UUID(int=2**128 - 1)
"""An id that is greater than every paced replay's."""


async def start(
    ctx: Context,
    wanted: DeadLetterFilter,
    *,
    limit: int,
    pace: int = DEFAULT_PACE,
    canary: int = 0,
    max_failures: int | None = None,
) -> PacedReplay:
    """Begin a paced replay of the dead letters that match and have died by now."""
    check_paced_replay(wanted, limit, pace, canary)
    shard = shard_of(ctx)

    async def work(tx: Tx) -> PacedReplay:
        if await paced_replays.count_running(tx, ctx.tenant.id, MAX_RUNNING) >= MAX_RUNNING:
            raise Conflict(f"{MAX_RUNNING} paced replays of the tenant run already; stop one, or wait")
        made = PacedReplay(
            id=new_id(shard, tx.now),
            shard=shard,
            tenant_id=ctx.tenant.id,
            wanted=wanted,
            limit=limit,
            pace=pace,
            canary=canary,
            max_failures=max_failures,
            created_at=tx.now,
            created_by=ctx.actor,
            status=first_status(canary),
        )
        if not await paced_replays.create(tx, made):
            raise ShardClosed("the home shard of the tenant is moving; nothing was begun")
        detail = {"wanted": wanted, "limit": limit, "pace": pace, "canary": canary, "max_failures": max_failures}
        await record(ctx, tx, "dead_letter.replay_started", shard, public(Prefix.PACED_REPLAY, made.id), detail)
        return made

    return await ctx.store.run(shard, work)


async def show(ctx: Context, id_: UUID) -> PacedReplay:
    """Returns a paced replay with its progress, as of its last step."""
    async with ctx.store.statement(shard_in(id_)) as tx:
        return await _find(ctx, tx, id_)


async def listing(ctx: Context, *, before: UUID = LAST_ID, limit: int = 50) -> list[PacedReplay]:
    """Returns the tenant's paced replays, newest first. The next page is `before` the last one."""
    found = chain.from_iterable(await ctx.ask_each(lambda tx: paced_replays.listing(tx, ctx.tenant.id, before, limit)))
    return sorted(found, key=lambda one: one.id, reverse=True)[:limit]


async def stop(ctx: Context, id_: UUID) -> PacedReplay:
    """Send no more dead letters of a paced replay. Instances that it has made go on."""

    async def work(tx: Tx) -> PacedReplay:
        found = await _find(ctx, tx, id_)
        if not await paced_replays.stop(tx, found, f"stopped by {ctx.actor}"):
            raise Conflict(f"the paced replay is {found.status}; only one that runs can be stopped")
        detail = {"sent": found.progress.sent}
        await record(ctx, tx, "dead_letter.replay_stopped", found.shard, public(Prefix.PACED_REPLAY, id_), detail)
        return await _find(ctx, tx, id_)

    return await ctx.store.run(shard_in(id_), work)


def shard_of(ctx: Context) -> int:
    """Returns the shard of a tenant's paced replays: its home shard."""
    return shard_in(ctx.tenant.id)


async def _find(ctx: Context, tx: Tx, id_: UUID) -> PacedReplay:
    found = await paced_replays.find(tx, ctx.tenant.id, id_)
    if found is None:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no paced replay {public(Prefix.PACED_REPLAY, id_)}")
    return found
