"""Routes of graphs: their runs, and what a person does with a step."""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Path, Query

from horae.api.idempotent import IdempotentRequest, OptionalKey, answer_once
from horae.api.models.graphs import GraphChildView, GraphRunDetail, GraphRunView
from horae.api.pages import Page, Paged
from horae.api.routes.jobs import JobRef
from horae.api.routes.runs import InstanceId
from horae.api.routing import may, router
from horae.domain.graphs.graphs import LONGEST_STEP_NAME
from horae.domain.graphs.interventions import StepAction
from horae.domain.graphs.runs import StepState
from horae.domain.ids import Prefix, private, shard_in
from horae.service.context import Context
from horae.service.graphs import runs

routes = router("graphs")
StepRef = Annotated[str, Path(max_length=LONGEST_STEP_NAME, description="The name of the step.", examples=["load"])]
FIRST: Final = -1
"""The first element is behind this number."""


@routes.get("/jobs/{job}/graph-runs")
async def list_graph_runs(
    ctx: Annotated[Context, may("graph_runs.list")], job: JobRef, paging: Paged
) -> Page[GraphRunView]:
    """List the runs of a graph, newest first. Of ended runs the last 100 are kept."""
    before = UUID(paging.after) if paging.after else runs.NEWEST
    found = await runs.listing(ctx, job, before=before, limit=paging.take)
    return paging.page(found, GraphRunView.of, lambda run: str(run.id))


@routes.get("/graph-runs/{instance}")
async def get_graph_run(ctx: Annotated[Context, may("graph_runs.read")], instance: InstanceId) -> GraphRunDetail:
    """Get a run of a graph with its steps. To cancel the run, cancel its instance."""
    return GraphRunDetail.whole(await runs.find(ctx, private(Prefix.INSTANCE, instance)))


@routes.get("/graph-runs/{instance}/steps/{step}/children")
async def list_graph_children(
    ctx: Annotated[Context, may("graph_children.list")],
    instance: InstanceId,
    step: StepRef,
    paging: Paged,
    state: Annotated[StepState | None, Query(description="Filter on the state.")] = None,
) -> Page[GraphChildView]:
    """List the elements of a mapped step in a run, in the order of its list. Other steps have none."""
    id_, after = private(Prefix.INSTANCE, instance), FIRST if paging.after is None else int(paging.after)
    found = await runs.children_of(ctx, id_, step, state, after, paging.take)
    return paging.page(found, GraphChildView.of, lambda child: child.number)


@routes.post("/graph-runs/{instance}/steps/{step}/retry", response_model=GraphRunDetail)
async def retry_graph_step(
    ctx: Annotated[Context, may("graph_steps.retry")], instance: InstanceId, step: StepRef, key: OptionalKey = None
) -> Any:
    """Run a step of an open run again, and all steps behind it."""
    return await _change(ctx, instance, step, StepAction.RETRY, key)


@routes.post("/graph-runs/{instance}/steps/{step}/skip", response_model=GraphRunDetail)
async def skip_graph_step(
    ctx: Annotated[Context, may("graph_steps.skip")], instance: InstanceId, step: StepRef, key: OptionalKey = None
) -> Any:
    """Skip a step of an open run: the run goes on without it."""
    return await _change(ctx, instance, step, StepAction.SKIP, key)


@routes.post("/graph-runs/{instance}/steps/{step}/succeed", response_model=GraphRunDetail)
async def succeed_graph_step(
    ctx: Annotated[Context, may("graph_steps.succeed")], instance: InstanceId, step: StepRef, key: OptionalKey = None
) -> Any:
    """Mark a step of an open run as succeeded, because its work was done in another way."""
    return await _change(ctx, instance, step, StepAction.SUCCEED, key)


async def _change(ctx: Context, instance: str, step: str, action: StepAction, key: str | None) -> Any:
    id_ = private(Prefix.INSTANCE, instance)
    wish = IdempotentRequest(f"graph_steps.{action}", f"{instance}/{step}", shard_in(id_))
    return await answer_once(ctx, key, wish, lambda ctx: runs.change_step(ctx, id_, step, action), GraphRunDetail.whole)
