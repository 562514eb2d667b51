"""What runs: trigger, backfill, instances of a job and of the tenant, cancel, retry."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Query

from horae.api.idempotent import OptionalKey, RequiredKey, Wish, answered, told
from horae.api.models.base import Moment
from horae.api.models.instances import (
    BackfillBegun,
    BackfillView,
    CountsView,
    InstanceDetail,
    InstanceView,
    NewBackfill,
    NewRun,
    Retried,
    Triggered,
)
from horae.api.pages import Page, Paged
from horae.api.routes.jobs import JobRef
from horae.api.routing import may, router
from horae.domain.ids import Prefix, private, public, shard_in
from horae.domain.lifecycle import State
from horae.domain.searches import FIRST, LAST, LAST_ID, NEWEST, Mark, Sought
from horae.service import backfills, expiry, holds, instances, interventions, jobs, search
from horae.service.context import Context
from horae.service.search import Bounds

routes = router("instances")
InstanceId = Annotated[str, Path(max_length=60, examples=["ins_01hv3zq5k8e9r7t2m4n6p8s0v1"])]
BackfillId = Annotated[str, Path(max_length=60, examples=["bkf_01hv3zq5k8e9r7t2m4n6p8s0v1"])]
States = Annotated[list[State], Query(max_length=8, description="Only these states.")]
Since = Annotated[Moment | None, Query(description="Of a job: fire times from here on; else births.")]
Until = Annotated[Moment | None, Query(description="Up to here, excluded.")]
BusinessKey = Annotated[str | None, Query(max_length=500, description="Only this business key.")]


def sought(
    state: States = [],  # noqa: B006 - a query parameter's default
    since: Since = None,
    until: Until = None,
    key: BusinessKey = None,
) -> Sought:
    """Which instances were asked for."""
    return Sought(tuple(state), since or FIRST, until or LAST, key)


Wanted = Annotated[Sought, Depends(sought)]


@routes.post("/jobs/{job}/trigger", status_code=202, response_model=Triggered)
async def trigger(
    ctx: Annotated[Context, may("jobs.trigger")], job: JobRef, key: RequiredKey, asked: NewRun | None = None
) -> Any:
    """Fire a job now, once per Idempotency-Key."""
    found = await jobs.named(ctx, job)
    done = await instances.trigger(ctx, found.name, key, payload=None if asked is None else asked.payload)
    made = Triggered(
        instance_id=public(Prefix.INSTANCE, done.instance_id), job_id=public(Prefix.JOB, found.id), job=found.name
    )
    return told(made.model_dump(mode="json"), 202, replayed=done.replayed)


@routes.post("/jobs/{job}/backfill", status_code=202, response_model=BackfillBegun)
async def backfill(
    ctx: Annotated[Context, may("jobs.backfill")], job: JobRef, key: RequiredKey, asked: NewBackfill
) -> Any:
    """Run a job's past fires of a range, once per Idempotency-Key; nodes walk through it, behind what is due."""
    found = await jobs.named(ctx, job)
    done = await backfills.start(ctx, found.name, key, asked.to_service())
    return told(BackfillBegun.of(done.backfill).model_dump(mode="json"), 202, replayed=done.replayed)


@routes.get("/jobs/{job}/backfills")
async def of_job(ctx: Annotated[Context, may("backfills.list")], job: JobRef, paging: Paged) -> Page[BackfillView]:
    """A job's backfills, newest first."""
    found = await jobs.named(ctx, job, removed=True)
    before = UUID(paging.after) if paging.after else LAST_ID
    page = await backfills.of_job(ctx, found, before=before, limit=paging.take)
    return paging.page(page, BackfillView.told, lambda one: one.id)


@routes.get("/backfills/{backfill}")
async def progress(ctx: Annotated[Context, may("backfills.read")], backfill: BackfillId) -> BackfillView:
    """How far a backfill has come."""
    return BackfillView.whole(await backfills.show(ctx, private(Prefix.BACKFILL, backfill)))


@routes.post("/backfills/{backfill}/cancel", response_model=BackfillView)
async def call_off(
    ctx: Annotated[Context, may("backfills.cancel")], backfill: BackfillId, key: OptionalKey = None
) -> Any:
    """Give birth to no more of it and cancel what waits; what runs may finish."""
    id_ = private(Prefix.BACKFILL, backfill)
    wish = Wish("backfills.cancel", backfill, shard_in(id_))
    return await answered(ctx, key, wish, lambda ctx: backfills.cancel(ctx, id_), BackfillView.told)


@routes.get("/jobs/{job}/instances")
async def history(
    ctx: Annotated[Context, may("instances.list")], job: JobRef, paging: Paged, wanted: Wanted
) -> Page[InstanceView]:
    """A job's instances, live and ended, newest fire first. A page may be short, or empty, and not the last."""
    found = await jobs.named(ctx, job, removed=True)
    before = Mark(datetime.fromisoformat(paging.after[0]), UUID(paging.after[1])) if paging.after else NEWEST
    page = await search.of_job(ctx, found, wanted, before=before, bounds=Bounds(paging.limit))
    return paging.told([InstanceView.of(past) for past in page.found], _place(page.next))


@routes.get("/jobs/{job}/counts")
async def counts(
    ctx: Annotated[Context, may("instances.list")], job: JobRef, since: Since = None, until: Until = None
) -> CountsView:
    """How many of a job's instances live in which state, and how its fires of a stretch of time ended."""
    found = await jobs.named(ctx, job, removed=True)
    return CountsView.of(await search.counts(ctx, found, sought(since=since, until=until)))


@routes.get("/instances")
async def listing(ctx: Annotated[Context, may("instances.list")], paging: Paged, wanted: Wanted) -> Page[InstanceView]:
    """The tenant's instances, newest birth first. A page may be short, or empty, and not the last."""
    before = UUID(paging.after[1]) if paging.after else LAST_ID
    page = await search.of_tenant(ctx, wanted, before=before, limit=paging.limit)
    return paging.told([InstanceView.of(past) for past in page.found], _place(page.next))


@routes.get("/instances/{instance}")
async def read(ctx: Annotated[Context, may("instances.read")], instance: InstanceId) -> InstanceDetail:
    """One instance with its attempts, and what it waits for."""
    found = await search.find(ctx, private(Prefix.INSTANCE, instance))
    hold, end = await holds.of_instance(ctx, found), await expiry.of_instance(ctx, found)
    return InstanceDetail.whole(found, hold, end)


@routes.post("/instances/{instance}/cancel", response_model=InstanceDetail)
async def cancel(
    ctx: Annotated[Context, may("instances.cancel")], instance: InstanceId, key: OptionalKey = None
) -> Any:
    """End a live instance. A call in flight is not aborted, its late answer is refused."""
    id_ = private(Prefix.INSTANCE, instance)
    wish = Wish("instances.cancel", instance, shard_in(id_))
    return await answered(ctx, key, wish, lambda ctx: interventions.cancel(ctx, id_), InstanceDetail.whole)


@routes.post("/instances/{instance}/retry", status_code=202)
async def retry(ctx: Annotated[Context, may("instances.retry")], instance: InstanceId) -> Retried:
    """Try again now: what waits for its retry at once, what is dead as a replay of its letter."""
    again = await interventions.retry(ctx, private(Prefix.INSTANCE, instance))
    return Retried(instance_id=public(Prefix.INSTANCE, again))


def _place(mark: Mark | None) -> object:
    return None if mark is None else [mark.at.isoformat(), mark.id]
