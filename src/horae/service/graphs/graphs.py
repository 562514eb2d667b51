"""Creates graphs. A graph is a job whose definition lists steps; `step_jobs` compiles them."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from horae.domain.graphs.graphs import DEFAULT_RUN_S, GRAPH_QUEUE
from horae.domain.jobs.jobs import Definition, GraphPlan, Job, StepRequest
from horae.domain.targets.targets import QueueTarget
from horae.service.context import Context
from horae.service.jobs import jobs

__all__ = ["GraphRequest", "StepRequest", "create"]


class GraphRequest(NamedTuple):
    """A graph to create. The target of `definition` is replaced: a run makes no call of its own."""

    definition: Definition
    steps: Sequence[StepRequest]
    deadline: float = DEFAULT_RUN_S


async def create(ctx: Context, name: str, request: GraphRequest) -> Job:
    """Create a graph with its step jobs and its cursor, in one transaction."""
    plan = GraphPlan(tuple(request.steps), request.deadline)
    definition = replace(request.definition, target=QueueTarget(GRAPH_QUEUE), graph_plan=plan)
    return await jobs.create(ctx, name, definition)
