"""Holds for display: why a due instance waits, and which calls of a job or a tenant are held back."""

from collections.abc import Sequence
from itertools import chain

from horae.domain.ids import shard_in
from horae.domain.instances.lifecycle import State
from horae.domain.jobs.jobs import Job
from horae.domain.limits.holds import GateName, Hold, gates_of, hold_of, is_waiting, merge
from horae.service.context import Context
from horae.service.instances.searches import InstanceRecord, cells_of
from horae.store.limits import holds
from horae.store.protocol import CellProtocol


async def of_instance(ctx: Context, past: InstanceRecord) -> Hold | None:
    """Returns the hold of an instance; None where it is not due, runs, has ended, or only waits for its turn."""
    shard = shard_in(past.id)
    if not is_waiting(State(past.state), past.due_at, ctx.now(shard)):
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
    """Returns the holds at the gates of a job, over all nodes, most waiting first. Other jobs may wait there too."""
    gates = gates_of(job.id, job.definition)
    return await _merge_cells(ctx, cells_of(ctx, job), gates) if gates else []


async def listing(ctx: Context) -> list[Hold]:
    """Returns the holds of the tenant, over all nodes and cells, most waiting first."""
    return await _merge_cells(ctx, ctx.store.cells)


async def _merge_cells(ctx: Context, cells: Sequence[CellProtocol], gates: list[GateName] | None = None) -> list[Hold]:
    found = await ctx.ask_each(lambda tx: holds.of_tenant(tx, ctx.tenant.id, gates), cells)
    return merge(list(chain.from_iterable(found)), max(cell.clock.now() for cell in cells if cell.clock.was_read))
