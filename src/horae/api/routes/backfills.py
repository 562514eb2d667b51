"""Routes of backfills and backfill groups: dry run, start, list, progress, pause, resume, cancel."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Path

from horae.api.idempotent import IdempotentRequest, OptionalKey, RequiredKey, answer_once, json_response
from horae.api.models.backfills import (
    BackfillGroupView,
    BackfillPlanView,
    BackfillView,
    NewBackfill,
    NewBackfillGroup,
    StartedBackfill,
    StartedBackfillGroup,
)
from horae.api.pages import Page, Paged
from horae.api.routes.jobs import JobRef
from horae.api.routing import may, router
from horae.domain.ids import LONGEST_ID, Prefix, private, shard_in
from horae.domain.instances.searches import LAST_ID
from horae.service.context import Context
from horae.service.idempotency import bind_key
from horae.service.jobs import jobs
from horae.service.schedules import backfill_groups, backfill_plans, backfills

routes = router("backfills")
BackfillId = Annotated[str, Path(max_length=LONGEST_ID, examples=["bkf_01hv3zq5k8e9r7t2m4n6p8s0v1"])]
GroupId = Annotated[str, Path(max_length=LONGEST_ID, examples=["bkg_01hv3zq5k8e9r7t2m4n6p8s0v1"])]


@routes.post("/jobs/{job}/backfill", status_code=202, response_model=StartedBackfill)
async def start_backfill(
    ctx: Annotated[Context, may("jobs.backfill")], job: JobRef, key: RequiredKey, asked: NewBackfill
) -> Any:
    """Run the past fires of a time range, once per Idempotency-Key. Due instances go first."""
    found = await jobs.find_by_ref(ctx, job)
    done = await backfills.start(ctx, found.name, key, asked.to_service())
    return json_response(StartedBackfill.of(done.backfill).model_dump(mode="json"), 202, replayed=done.replayed)


@routes.post("/jobs/{job}/backfill/plan")
async def plan_backfill(
    ctx: Annotated[Context, may("backfills.plan")], job: JobRef, asked: NewBackfill
) -> BackfillPlanView:
    """Dry run of a backfill: how many fires, how long, what load, and what bounds its pace. Nothing is changed."""
    found = await jobs.find_by_ref(ctx, job)
    return BackfillPlanView.of(await backfill_plans.plan(ctx, found.name, asked.to_service()))


@routes.get("/jobs/{job}/backfills")
async def list_backfills(
    ctx: Annotated[Context, may("backfills.list")], job: JobRef, paging: Paged
) -> Page[BackfillView]:
    """List the backfills of a job, newest first."""
    found = await jobs.find_by_ref(ctx, job, removed=True)
    before = UUID(paging.after) if paging.after else LAST_ID
    page = await backfills.of_job(ctx, found, before=before, limit=paging.take)
    return paging.page(page, BackfillView.of_listed, lambda one: one.id)


@routes.get("/backfills/{backfill}")
async def get_backfill(ctx: Annotated[Context, may("backfills.read")], backfill: BackfillId) -> BackfillView:
    """Get the progress of a backfill."""
    return BackfillView.whole(await backfills.show(ctx, private(Prefix.BACKFILL, backfill)))


@routes.post("/backfills/{backfill}/pause", response_model=BackfillView)
async def pause_backfill(
    ctx: Annotated[Context, may("backfills.pause")], backfill: BackfillId, key: OptionalKey = None
) -> Any:
    """Pause a backfill: no new instances until it is resumed. Instances that exist run."""
    id_ = private(Prefix.BACKFILL, backfill)
    wish = IdempotentRequest("backfills.pause", backfill, shard_in(id_))
    return await answer_once(ctx, key, wish, lambda ctx: backfills.pause(ctx, id_), BackfillView.of_listed)


@routes.post("/backfills/{backfill}/resume", response_model=BackfillView)
async def resume_backfill(
    ctx: Annotated[Context, may("backfills.resume")], backfill: BackfillId, key: OptionalKey = None
) -> Any:
    """Resume a paused backfill where it stood. It is refused while a measure closes backfills."""
    id_ = private(Prefix.BACKFILL, backfill)
    wish = IdempotentRequest("backfills.resume", backfill, shard_in(id_))
    return await answer_once(ctx, key, wish, lambda ctx: backfills.resume(ctx, id_), BackfillView.of_listed)


@routes.post("/backfills/{backfill}/cancel", response_model=BackfillView)
async def cancel_backfill(
    ctx: Annotated[Context, may("backfills.cancel")], backfill: BackfillId, key: OptionalKey = None
) -> Any:
    """Cancel a backfill: no new instances, and waiting instances are cancelled. Running instances may finish."""
    id_ = private(Prefix.BACKFILL, backfill)
    wish = IdempotentRequest("backfills.cancel", backfill, shard_in(id_))
    return await answer_once(ctx, key, wish, lambda ctx: backfills.cancel(ctx, id_), BackfillView.of_listed)


@routes.post("/backfill-groups", status_code=202)
async def start_backfill_group(
    ctx: Annotated[Context, may("backfill_groups.start")], key: RequiredKey, asked: NewBackfillGroup
) -> StartedBackfillGroup:
    """Run the past fires of many jobs, by label: a backfill for each job, once per Idempotency-Key.

    A request that was interrupted is repeated with its key: parts that exist are found, the others begin.
    """
    body = asked.model_dump(mode="json", exclude_unset=True)
    async with bind_key(ctx, "backfill_groups.start", key, body):
        return StartedBackfillGroup.of(await backfill_groups.start(ctx, key, asked.to_filter(), asked.to_service()))


@routes.get("/backfill-groups/{group}")
async def get_backfill_group(ctx: Annotated[Context, may("backfill_groups.read")], group: GroupId) -> BackfillGroupView:
    """Get the progress of a backfill group and of its parts."""
    return BackfillGroupView.of(await backfill_groups.show(ctx, private(Prefix.BACKFILL_GROUP, group)))


@routes.post("/backfill-groups/{group}/pause")
async def pause_backfill_group(
    ctx: Annotated[Context, may("backfill_groups.pause")], group: GroupId
) -> BackfillGroupView:
    """Pause every part of a backfill group that runs."""
    return BackfillGroupView.of(await backfill_groups.pause(ctx, private(Prefix.BACKFILL_GROUP, group)))


@routes.post("/backfill-groups/{group}/resume")
async def resume_backfill_group(
    ctx: Annotated[Context, may("backfill_groups.resume")], group: GroupId
) -> BackfillGroupView:
    """Resume every part of a backfill group that is paused."""
    return BackfillGroupView.of(await backfill_groups.resume(ctx, private(Prefix.BACKFILL_GROUP, group)))


@routes.post("/backfill-groups/{group}/cancel")
async def cancel_backfill_group(
    ctx: Annotated[Context, may("backfill_groups.cancel")], group: GroupId
) -> BackfillGroupView:
    """Cancel every part of a backfill group that has not ended."""
    return BackfillGroupView.of(await backfill_groups.cancel(ctx, private(Prefix.BACKFILL_GROUP, group)))
