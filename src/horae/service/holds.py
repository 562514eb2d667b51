"""Holds as people look for them: what an instance waits for, and what is held back of a job or a tenant."""

from itertools import chain

from horae.domain.holds import GateName, Hold, gates_of, hold_of, is_waiting, merge
from horae.domain.ids import shard_in
from horae.domain.jobs import Job
from horae.domain.lifecycle import State
from horae.service.context import Context
from horae.service.search import Past, cells_of
from horae.store import holds
from horae.store.cells import Cell


async def of_instance(ctx: Context, past: Past) -> Hold | None:
    """What holds an instance back; None where it is not due yet, runs, has ended, or only waits for its turn."""
    shard = shard_in(past.id)
    if not is_waiting(State(past.state), past.due_at, ctx.store.cell(shard).clock.now()):
        return None
    known = await ctx.definitions.load_from(ctx.store.cell(shard), [(shard, past.job_id, past.job_version)])
    job = known.get((past.job_id, past.job_version))
    gates = [] if job is None else gates_of(job.id, job.definition)
    if not gates:
        return None
    async with ctx.store.statement(shard) as tx:
        found = await holds.of_tenant(tx, ctx.tenant.id, gates)
    return hold_of(past.lane, merge(found, tx.now))


async def of_job(ctx: Context, job: Job) -> list[Hold]:
    """What is held back at the gates of a job, over all nodes, most waiting first. Other jobs may wait there too."""
    gates = gates_of(job.id, job.definition)
    return await _merged(ctx, cells_of(ctx, job), gates) if gates else []


async def listing(ctx: Context) -> list[Hold]:
    """What is held back of the tenant, over all nodes and cells, most waiting first."""
    return await _merged(ctx, ctx.store.cells)


async def _merged(ctx: Context, cells: list[Cell], gates: list[GateName] | None = None) -> list[Hold]:
    found = await ctx.ask_each(lambda tx: holds.of_tenant(tx, ctx.tenant.id, gates), cells)
    return merge(list(chain.from_iterable(found)), max(cell.clock.now() for cell in cells if cell.clock.was_read))
