"""Compiles the declared steps of a graph into step jobs, in the transaction that writes the graph.

Step jobs are named `graph/step`, which no other job can be, and are left out of lists of jobs. They lie in the shard of
their graph, which names them by id and version: so a run goes on with the step jobs of the version that it began with.

The next version of a graph keeps the step jobs of steps that stay. A step job whose step has changed gets a version of
its own. Step jobs of dropped steps are removed one version later, unless a run of the graph lives or may be replayed.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.errors import Conflict, Contended, Invalid, ShardClosed
from horae.domain.graphs.checks import check_graph, reads_of_steps, sorted_plan
from horae.domain.graphs.graphs import MAX_STEPS, Graph, GraphStep, StepPlan, StepReads, plan_of
from horae.domain.graphs.parameters import has_literals, parameters_of
from horae.domain.jobs.jobs import Definition, GraphPlan, Job, StepRequest, new_job
from horae.domain.targets.targets import queue_of, slot_ms
from horae.runtime.randomness import new_id
from horae.security.envelopes import DataKey
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_job, encrypt_definition
from horae.service.limits.counts import CountRoom
from horae.service.targets.topics import check_target
from horae.store.graphs import step_jobs
from horae.store.jobs import jobs
from horae.store.tx import Tx

MAX_FORMER: Final = 2 * MAX_STEPS
"""Step jobs of former steps that are kept for open runs."""


class StepJob(NamedTuple):
    """A step as compiled, with the version of its step job that has to be written; None where nothing changes."""

    step: GraphStep
    written: Definition | None


def check_steps(ctx: Context, name: str, definition: Definition) -> None:
    """Refuse a declared graph that cannot run as it stands. Nothing is refused of another job."""
    check_graph(name, definition)
    if definition.graph_plan is not None:
        for step in definition.graph_plan.steps:
            check_target(ctx, step.definition)


def count_steps(definition: Definition) -> int:
    """Returns how many declared steps a definition has."""
    return 0 if definition.graph_plan is None else len(definition.graph_plan.steps)


async def create(ctx: Context, tx: Tx, job: Job, key: DataKey | None) -> Definition:
    """Write the step jobs of a new graph. Returns the graph's definition as it is stored."""
    if job.definition.graph_plan is None:
        return job.definition
    made = _compile_all(job.definition.graph_plan, {}, tx, job.shard)
    await _insert(ctx, tx, job, made, key)
    return _stored(job.definition, made)


async def revise(
    ctx: Context, tx: Tx, job: Job, definition: Definition, key: DataKey | None, room: CountRoom | None
) -> Definition:
    """Write the step jobs that the next version of a graph changes. Returns its definition as it is stored."""
    graph = job.definition.graph
    if definition.graph_plan is None or graph is None:
        return definition
    known = {step.name: step for step in (*graph.former, *graph.steps)}
    before = await _definitions(ctx, tx, job.shard, list(known.values()))
    old = {step.name: (step, before.get(step.job_id)) for step in known.values()}
    made = _compile_all(definition.graph_plan, old, tx, job.shard)
    new = [one for one in made if one.written is not None and one.step.job_version == 1]
    changed = [one for one in made if one.written is not None and one.step.job_version > 1]
    if new:
        if room is not None:
            room.check(len(new))
        await _insert(ctx, tx, job, new, key)
    if changed:
        rows = [(one.step.job_id, one.step.job_version - 1, _encrypted(job, one, key)) for one in changed]
        if await step_jobs.revise(tx, job.shard, rows, ctx.actor) < len(rows):
            raise Contended(f"job {job.name!r} was changed meanwhile")
    return _stored(definition, made, await _former(tx, job, graph, {one.step.name for one in made}))


async def with_plan(ctx: Context, job: Job) -> Job:
    """Returns a graph with its steps as they were declared; another job as it is."""
    return (await with_plans(ctx, [job]))[0]


async def with_plans(ctx: Context, found: Sequence[Job]) -> list[Job]:
    """The same for many jobs: one statement for the graphs of a cell."""
    graphs = [job for job in found if job.definition.graph is not None and not job.is_unreadable]
    plans: dict[tuple[UUID, int], GraphPlan] = {}
    for _, group in groupby(sorted(graphs, key=_cell_of(ctx)), _cell_of(ctx)):
        wanted = list(group)
        async with ctx.store.statement(wanted[0].shard) as tx:
            places = [(job.shard, step) for job in wanted for step in _steps_of(job)]
            kept = await jobs.definitions(tx, [(shard, step.job_id, step.job_version) for shard, step in places])
        for job in wanted:
            plans[job.id, job.version] = await _plan(ctx, job, kept)
    return [
        replace(job, definition=replace(job.definition, graph_plan=plans[job.id, job.version]))
        if (job.id, job.version) in plans
        else job
        for job in found
    ]


def _cell_of(ctx: Context) -> Callable[[Job], str]:
    return lambda job: ctx.store.cell(job.shard).name


def _steps_of(job: Job) -> tuple[GraphStep, ...]:
    return () if job.definition.graph is None else job.definition.graph.steps


async def _plan(ctx: Context, job: Job, kept: dict[tuple[UUID, int], Job | None]) -> GraphPlan:
    graph = job.definition.graph
    assert graph is not None
    found: list[StepRequest] = []
    for step in graph.steps:
        one = kept.get((step.job_id, step.job_version))
        if one is None:
            raise Conflict(f"step {step.name!r} of graph {job.name!r} was written by a newer release")
        made = (await decrypt_job(ctx, one)).definition
        found.append(StepRequest(plan_of(step), replace(made, step_of=None)))
    return GraphPlan(tuple(found), graph.deadline)


async def _definitions(ctx: Context, tx: Tx, shard: int, steps: Sequence[GraphStep]) -> dict[UUID, Definition]:
    """Returns the decrypted definitions of step jobs as their steps name them."""
    kept = await jobs.definitions(tx, [(shard, step.job_id, step.job_version) for step in steps])
    return {
        id_: replace((await decrypt_job(ctx, job)).definition, step_of=None)
        for (id_, _), job in kept.items()
        if job is not None
    }


OldSteps = Mapping[str, tuple[GraphStep, Definition | None]]
"""Steps of the version before by name, with the definitions of their step jobs."""


def _compile_all(plan: GraphPlan, old: OldSteps, tx: Tx, shard: int) -> list[StepJob]:
    """Returns the declared steps, each behind those that it needs, with their step jobs."""
    steps = sorted_plan(plan)
    reads = reads_of_steps(steps)
    return [_compile(step, old, reads[step.plan.name], lambda: new_id(shard, tx.now)) for step in steps]


def _compile(asked: StepRequest, old: OldSteps, reads: StepReads, next_id: Callable[[], UUID]) -> StepJob:
    """Returns a declared step with its step job: the one that it has, a next version of that one, or a new one."""
    found = old.get(asked.plan.name)
    if found is None:
        return StepJob(_step(asked, reads, next_id(), 1), asked.definition)
    step, before = found
    if before == asked.definition:
        return StepJob(_step(asked, reads, step.job_id, step.job_version), None)
    return StepJob(_step(asked, reads, step.job_id, step.job_version + 1), asked.definition)


def _step(asked: StepRequest, reads: StepReads, job_id: UUID, version: int) -> GraphStep:
    made = asked.definition
    planned = {field: getattr(asked.plan, field) for field in StepPlan.__struct_fields__}
    is_sent_its_item = asked.plan.each is not None and made.payload is None
    return GraphStep(
        job_id=job_id,
        job_version=version,
        slot_ms=slot_ms(made.target),
        priority=made.priority,
        queue=queue_of(made.target),
        parameters=is_sent_its_item or bool(parameters_of(made.payload)) or has_literals(made.payload),
        reads=reads.results,
        reads_payload=reads.payload,
        **planned,
    )


def _encrypted(job: Job, made: StepJob, key: DataKey | None) -> Definition:
    assert made.written is not None
    return encrypt_definition(key, made.step.job_id, replace(made.written, step_of=job.id))


async def _insert(ctx: Context, tx: Tx, job: Job, made: Sequence[StepJob], key: DataKey | None) -> None:
    rows = [
        new_job(one.step.job_id, job.tenant_id, f"{job.name}/{one.step.name}", _encrypted(job, one, key))
        for one in made
    ]
    if await step_jobs.create(tx, rows, ctx.actor) < len(rows):
        raise ShardClosed(f"the shard of job {job.name!r} is moving; nothing was changed")


def _stored(definition: Definition, made: Sequence[StepJob], former: Sequence[GraphStep] = ()) -> Definition:
    assert definition.graph_plan is not None
    graph = Graph(tuple(one.step for one in made), definition.graph_plan.deadline, tuple(former))
    return replace(definition, graph=graph, graph_plan=None)


async def _former(tx: Tx, job: Job, graph: Graph, kept: set[str]) -> list[GraphStep]:
    """Returns the former steps of the next version. What was former before is removed where no run may need it."""
    dropped = [step for step in graph.steps if step.name not in kept]
    older = [step for step in graph.former if step.name not in kept]
    if older and not await step_jobs.are_needed(tx, job.shard, job.id):
        await step_jobs.remove(tx, job.shard, job.id, [step.job_id for step in older])
        older = []
    if len(dropped) + len(older) > MAX_FORMER:
        raise Invalid(
            f"earlier versions of graph {job.name!r} had {len(dropped) + len(older)} steps that it has no longer, and "
            "their runs may need them; wait until these runs have ended"
        )
    return [*older, *dropped]
