"""Runs of graphs: read them, and intervene in their steps. Each intervention is audited."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import Conflict, NotFound
from horae.domain.graphs.graphs import Graph
from horae.domain.graphs.interventions import StepAction, intervene
from horae.domain.graphs.runs import StepState
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.jobs.jobs import Job
from horae.service.audit import audit
from horae.service.context import Context
from horae.service.identity.bound_keys import check_job
from horae.service.jobs import jobs
from horae.store.graphs import children, runs, steps
from horae.store.graphs.children import ChildRow
from horae.store.graphs.runs import GraphRun
from horae.store.graphs.steps import StepChange, StepRow
from horae.store.jobs import jobs as rows
from horae.store.tx import Tx

__all__ = ["ChildRow", "GraphRun", "RunDetail", "StepRow", "change_step", "children_of", "find", "graph_of", "listing"]
MAX_RUNS: Final = 100
NEWEST: Final = UUID(int=2**128 - 1)
"""The newest run is before this id."""
MAX_CHILDREN: Final = 1000
"""Children in one page."""
MAX_TALLIED: Final = 20_000
"""Children of a run that are counted by state when the run is read: counting reads the row of each."""
REASONS: Final = {
    StepAction.RETRY: "RETRIED",
    StepAction.SKIP: "SKIPPED_BY_PERSON",
    StepAction.SUCCEED: "MARKED_BY_PERSON",
}


class RunDetail(NamedTuple):
    """A run, the graph of its version, and its steps.

    `child_states` counts the children of mapped steps by position and state; None where there are too many.
    """

    run: GraphRun
    graph: Graph
    steps: list[StepRow]
    child_states: dict[int, dict[StepState, int]] | None = None


async def graph_of(ctx: Context, ref: str) -> Job:
    """Returns the graph of a name or public id; a job without steps is refused. It may be removed."""
    job = await jobs.find_by_ref(ctx, ref, removed=True)
    if job.definition.graph is None:
        raise NotFound(f"job {ref!r} is not a graph")
    return job


async def listing(ctx: Context, ref: str, *, before: UUID = NEWEST, limit: int = MAX_RUNS) -> list[GraphRun]:
    """Returns the newest runs of a graph before an id, newest first. Of ended runs the last 100 are kept."""
    job = await graph_of(ctx, ref)
    async with ctx.store.statement(job.shard) as tx:
        return await runs.of_job(tx, ctx.tenant.id, job.id, before, limit)


async def find(ctx: Context, id_: UUID) -> RunDetail:
    """Returns a run with its steps."""
    async with ctx.store.statement(shard_in(id_)) as tx:
        return await _tally(ctx, tx, await _find(ctx, tx, id_))


async def children_of(
    ctx: Context, id_: UUID, step: str, state: StepState | None = None, after: int = -1, limit: int = MAX_CHILDREN
) -> list[ChildRow]:
    """Returns children of a mapped step behind a number, in the order of its list; with a state, only those in it."""
    shard = shard_in(id_)
    async with ctx.store.statement(shard) as tx:
        found = await _find(ctx, tx, id_)
        positions = {row.name: row.position for row in found.steps}
        if step not in positions:
            raise NotFound(f"the run has no step {step!r}")
        limit = min(limit, MAX_CHILDREN)
        return await children.page(tx, shard, id_, ctx.tenant.id, positions[step], state, after, limit)


async def change_step(ctx: Context, id_: UUID, step: str, action: StepAction) -> RunDetail:
    """Run a step again with all steps behind it, skip it, or mark it as succeeded. Nodes go on from there."""
    shard = shard_in(id_)

    async def work(tx: Tx) -> RunDetail:
        is_open = await runs.lock(tx, shard, ctx.tenant.id, id_)
        found = await _find(ctx, tx, id_)
        if not is_open:
            raise Conflict(f"{public(Prefix.INSTANCE, id_)} has ended; its steps cannot be changed")
        states = {row.name: row.state for row in found.steps}
        changed = intervene(found.graph.steps, states, step, action)
        rows = [row for row in found.steps if row.name in changed]
        await steps.change(
            tx,
            [
                StepChange(shard, id_, row.position, changed[row.name], _generation(row, step), REASONS[action])
                for row in rows
            ],
        )
        if action == StepAction.RETRY:
            await _repeat_children(tx, shard, id_, rows, step)
        detail = {"step": step, "before": states[step], "changed": sorted(changed)}
        await audit.record(ctx, tx, f"graph.step.{action}", shard, public(Prefix.INSTANCE, id_), detail)
        return await _tally(ctx, tx, await _find(ctx, tx, id_))

    asked = ctx.now(shard)
    changed = await ctx.store.run(shard, work)
    ctx.wakes.wake(shard, asked)
    return changed


async def _find(ctx: Context, tx: Tx, id_: UUID) -> RunDetail:
    shard = shard_in(id_)
    run = await runs.find(tx, shard, ctx.tenant.id, id_)
    if run is None:
        raise NotFound(f"there is no run {public(Prefix.INSTANCE, id_)} of a graph, or it is kept no longer")
    place = (shard, run.job_id, run.job_version)
    job = (await rows.definitions(tx, [place])).get((run.job_id, run.job_version))
    if job is None or job.definition.graph is None:
        raise NotFound(f"the graph of run {public(Prefix.INSTANCE, id_)} cannot be read")
    check_job(ctx, job)
    return RunDetail(run, job.definition.graph, await steps.of_runs(tx, [(shard, id_)]))


async def _tally(ctx: Context, tx: Tx, found: RunDetail) -> RunDetail:
    """Count the children of mapped steps by state, unless there are too many."""
    total = sum(row.children or 0 for row in found.steps)
    if total > MAX_TALLIED:
        return found
    run = found.run.id
    counts = await children.tally(tx, shard_in(run), run, ctx.tenant.id) if total else {}
    return found._replace(child_states=counts)


async def _repeat_children(tx: Tx, shard: int, run_id: UUID, rows: Sequence[StepRow], named: str) -> None:
    """Let the failed children of a mapped step run again. Steps that begin anew lose theirs: the list may differ."""
    mapped = [row for row in rows if row.children is not None]
    if anew := [row.position for row in mapped if _begins_anew(row, named)]:
        await children.remove(tx, shard, run_id, anew)
    for row in mapped:
        if not _begins_anew(row, named):
            await children.repeat_failed(tx, shard, run_id, row.position)


def _generation(row: StepRow, named: str) -> int:
    """A step that succeeded before gets a new idempotency key when it runs again: its receiver shall do it again.

    So do the children of a mapped step that begins anew, because other elements may have their numbers.
    """
    return row.generation + (_begins_anew(row, named) if row.children is not None else row.state == StepState.SUCCESS)


def _begins_anew(row: StepRow, named: str) -> bool:
    """Whether all children of a mapped step run again: it had succeeded, or a step before it runs again."""
    return row.state == StepState.SUCCESS or row.name != named
