"""Routes of instances: trigger, list, cancel, retry."""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from horae.api.idempotent import IdempotentRequest, OptionalKey, RequiredKey, answer_once, json_response
from horae.api.models.base import Moment
from horae.api.models.instances import (
    InstanceCountsView,
    InstanceDetail,
    InstancePageView,
    NewRun,
    ResultView,
    RetryAnswer,
    TriggerAnswer,
    archive_fields,
    instance_fields,
)
from horae.api.pages import Paged, PageRequest
from horae.api.routes.jobs import JobRef
from horae.api.routing import Asking, may, router
from horae.api.traces import trace_url
from horae.domain.ids import LONGEST_ID, Prefix, private, public, shard_in
from horae.domain.instances.lifecycle import State
from horae.domain.instances.searches import FIRST, LAST, InstanceFilter, InstanceMark, InstanceOrder
from horae.service.context import Context
from horae.service.instances import expiry, instances, interventions, results, searches, tiers
from horae.service.instances.searches import Bounds
from horae.service.instances.tiers import START, PagePosition, TieredPage
from horae.service.jobs import jobs
from horae.service.limits import holds

routes = router("instances")
InstanceId = Annotated[str, Path(max_length=LONGEST_ID, examples=["ins_01hv3zq5k8e9r7t2m4n6p8s0v1"])]
States = Annotated[list[State], Query(max_length=8, description="Filter on states.")]
Since = Annotated[
    Moment | None,
    Query(description="Start of the time range: of fire times for one job or by `order=fire_time`, else of creation."),
]
Until = Annotated[Moment | None, Query(description="End of the time range, excluded.")]
Order = Annotated[InstanceOrder, Query(description="By creation, or by fire time; newest first.")]
COLD: Final = "cold"
"""The tier in a cursor that leads into the archive."""
BusinessKey = Annotated[str | None, Query(max_length=500, description="Filter on the business key.")]


async def instance_filter(
    state: States = [],  # noqa: B006 - a query parameter's default
    since: Since = None,
    until: Until = None,
    key: BusinessKey = None,
) -> InstanceFilter:
    """Returns the filter for instances."""
    return InstanceFilter(tuple(state), since or FIRST, until or LAST, key)


Wanted = Annotated[InstanceFilter, Depends(instance_filter)]


@routes.post("/jobs/{job}/trigger", status_code=202, response_model=TriggerAnswer)
async def trigger_job(
    ctx: Annotated[Context, may("jobs.trigger")], job: JobRef, key: RequiredKey, asked: NewRun | None = None
) -> Any:
    """Fire a job now, once per Idempotency-Key."""
    found = await jobs.find_by_ref(ctx, job)
    done = await instances.trigger(ctx, found.name, key, payload=None if asked is None else asked.payload)
    made = TriggerAnswer(
        instance_id=public(Prefix.INSTANCE, done.instance_id), job_id=public(Prefix.JOB, found.id), job=found.name
    )
    return json_response(made.model_dump(mode="json"), 202, replayed=done.replayed)


@routes.get("/jobs/{job}/instances", response_model=InstancePageView)
async def list_job_instances(
    ctx: Annotated[Context, may("instances.list")], job: JobRef, paging: Paged, wanted: Wanted
) -> Response:
    """List the instances of a job, live and ended, newest fire first. A page may be short or empty but not the last.

    Instances that are in the archive only come after all others.
    """
    page = await tiers.of_job_ref(ctx, job, wanted, at=_position(paging.after), bounds=Bounds(paging.limit))
    return _response(paging, page)


@routes.get("/jobs/{job}/counts")
async def count_job_instances(
    ctx: Annotated[Context, may("instances.list")], job: JobRef, since: Since = None, until: Until = None
) -> InstanceCountsView:
    """Count the live instances of a job by state, and the ended instances of a time range by state."""
    found = await jobs.find_by_ref(ctx, job, removed=True)
    return InstanceCountsView.of(
        await searches.counts(ctx, found, InstanceFilter(since=since or FIRST, until=until or LAST))
    )


@routes.get("/instances", response_model=InstancePageView)
async def list_instances(
    ctx: Annotated[Context, may("instances.list")], paging: Paged, wanted: Wanted, order: Order = InstanceOrder.CREATED
) -> Response:
    """List the instances of the tenant, newest first. A page may be short or empty but not the last.

    Instances that are in the archive only come after all others.
    """
    page = await tiers.of_tenant(ctx, wanted, at=_position(paging.after), limit=paging.limit, order=order)
    return _response(paging, page)


@routes.get("/instances/{instance}")
async def get_instance(
    request: Request, ctx: Annotated[Context, may("instances.read")], asking: Asking, instance: InstanceId
) -> InstanceDetail:
    """Get an instance with its attempts, and what it waits for. What the target answered needs `payloads.read`."""
    found, read = await tiers.find(ctx, private(Prefix.INSTANCE, instance))
    hold, end = await holds.of_instance(ctx, found), await expiry.of_instance(ctx, found)
    link, answers = trace_url(request, found.id), asking.may("payloads.read")
    return InstanceDetail.whole(found, hold, end, read, link, answers=answers)


@routes.get("/instances/{instance}/result")
async def get_result(ctx: Annotated[Context, may("payloads.read")], instance: InstanceId) -> ResultView:
    """Get what an instance returned. 404 if it has not ended, or returned nothing."""
    return ResultView.of(await results.find(ctx, private(Prefix.INSTANCE, instance)))


@routes.post("/instances/{instance}/cancel", response_model=InstanceDetail)
async def cancel_instance(
    ctx: Annotated[Context, may("instances.cancel")], instance: InstanceId, key: OptionalKey = None
) -> Any:
    """Cancel a live instance. A call in flight is not aborted; its late answer is refused."""
    id_ = private(Prefix.INSTANCE, instance)
    wish = IdempotentRequest("instances.cancel", instance, shard_in(id_))
    return await answer_once(ctx, key, wish, lambda ctx: interventions.cancel(ctx, id_), InstanceDetail.whole)


@routes.post("/instances/{instance}/retry", status_code=202)
async def retry_instance(ctx: Annotated[Context, may("instances.retry")], instance: InstanceId) -> RetryAnswer:
    """Retry an instance now. A dead instance is replayed as a new instance."""
    again = await interventions.retry(ctx, private(Prefix.INSTANCE, instance))
    return RetryAnswer(instance_id=public(Prefix.INSTANCE, again))


def _position(after: Any) -> PagePosition:
    """Returns where a page begins, by the cursor of the page before."""
    if not after:
        return START
    at, id_, *tier = after
    return PagePosition(InstanceMark(datetime.fromisoformat(at), UUID(id_)), is_cold=tier == [COLD])


def _response(paging: PageRequest, page: TieredPage) -> Response:
    """Returns a page of instances. The cursor says the tier in which the next page begins."""
    place = None
    if page.next is not None:
        place = [page.next.mark.at.isoformat(), page.next.mark.id, *([COLD] if page.next.is_cold else [])]
    read = None if page.archive is None else archive_fields(page.archive)
    return paging.response_of([instance_fields(past) for past in page.found], place, archive=read)
