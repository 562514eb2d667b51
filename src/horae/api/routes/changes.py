"""Jobs changed and looked at closely: versions, labels, single occurrences, previews, tests, many at once."""

from contextlib import nullcontext
from typing import Annotated, Any

from fastapi import Path, Query
from starlette.requests import Request

from horae.api.idempotent import OptionalKey, Wish, answered
from horae.api.models.bulk import DoneView, Many
from horae.api.models.jobs import Echo, JobView, NewJob
from horae.api.models.operations import ForecastView, NewTrial, TrialView
from horae.api.models.versions import (
    ChangedJob,
    DifferenceView,
    Labels,
    MovedOccurrence,
    Occurrence,
    VersionView,
)
from horae.api.pages import Page, Paged
from horae.api.routes.jobs import JobRef
from horae.api.routing import Asking, may, router
from horae.domain.errors import KeyRequired, Unavailable
from horae.service import bulk, calendars, forecasts, jobs, schedules, versions
from horae.service.bulk import Verb
from horae.service.context import Context
from horae.service.once import bound
from horae.service.previews import imagined
from horae.service.trials import Trials

routes = router("jobs")
VersionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]


@routes.put("/jobs/{job}", response_model=JobView)
async def update(
    ctx: Annotated[Context, may("jobs.update")], job: JobRef, asked: ChangedJob, key: OptionalKey = None
) -> Any:
    """Make the next version of a job, if it is still at the version named; its schedule goes on by it from now."""
    found = await jobs.named(ctx, job)
    definition = asked.next(ctx.tenant, found, ctx.store.cell(found.shard).clock.now())
    return await answered(
        ctx,
        key,
        Wish("jobs.update", found.name, found.shard, asked),
        lambda ctx: schedules.update(ctx, found.name, definition, version=asked.version),
        JobView.of,
    )


@routes.patch("/jobs/{job}/labels", response_model=JobView)
async def label(ctx: Annotated[Context, may("jobs.label")], job: JobRef, asked: Labels, key: OptionalKey = None) -> Any:
    """Set labels, or take them away."""
    found = await jobs.named(ctx, job)
    wish = Wish("jobs.label", found.name, found.shard, asked)
    return await answered(ctx, key, wish, lambda ctx: schedules.label(ctx, found.name, asked.labels), JobView.of)


@routes.get("/jobs/{job}/versions")
async def listing(ctx: Annotated[Context, may("jobs.versions")], job: JobRef, paging: Paged) -> Page[VersionView]:
    """A job's versions, newest first."""
    found = await jobs.named(ctx, job, removed=True)
    page = await versions.listing(ctx, found, before=paging.after or versions.LAST, limit=paging.take)
    return paging.page(page, VersionView.of, lambda one: one.version)


@routes.get("/jobs/{job}/versions/{version}")
async def read(ctx: Annotated[Context, may("jobs.versions")], job: JobRef, version: VersionNumber) -> VersionView:
    """One version of a job."""
    return VersionView.of(await versions.find(ctx, await jobs.named(ctx, job, removed=True), version))


@routes.get("/jobs/{job}/diff")
async def diff(
    ctx: Annotated[Context, may("jobs.versions")],
    job: JobRef,
    before: Annotated[int, Query(ge=1, le=2**31 - 1, description="The older version.")],
    after: Annotated[int, Query(ge=1, le=2**31 - 1, description="The newer version.")],
) -> list[DifferenceView]:
    """What differs between two versions, path by path."""
    found = await jobs.named(ctx, job, removed=True)
    return [DifferenceView.of(one) for one in await versions.diff(ctx, found, before, after)]


@routes.post("/jobs/{job}/skip", response_model=JobView)
async def skip(
    ctx: Annotated[Context, may("jobs.occurrence")], job: JobRef, asked: Occurrence, key: OptionalKey = None
) -> Any:
    """One coming fire does not happen; it leaves a row that says so."""
    found = await jobs.named(ctx, job)
    wish = Wish("jobs.skip", found.name, found.shard, asked)
    return await answered(ctx, key, wish, lambda ctx: schedules.skip(ctx, found.name, asked.at), JobView.of)


@routes.post("/jobs/{job}/move", response_model=JobView)
async def move(
    ctx: Annotated[Context, may("jobs.occurrence")], job: JobRef, asked: MovedOccurrence, key: OptionalKey = None
) -> Any:
    """One coming fire happens at another time, between its neighbours."""
    found = await jobs.named(ctx, job)
    wish = Wish("jobs.move", found.name, found.shard, asked)
    return await answered(ctx, key, wish, lambda ctx: schedules.move(ctx, found.name, asked.at, asked.to), JobView.of)


@routes.post("/jobs/{job}/restore", response_model=JobView)
async def restore(
    ctx: Annotated[Context, may("jobs.occurrence")], job: JobRef, asked: Occurrence, key: OptionalKey = None
) -> Any:
    """One coming fire that was skipped or moved happens as the schedule has it."""
    found = await jobs.named(ctx, job)
    wish = Wish("jobs.restore", found.name, found.shard, asked)
    return await answered(ctx, key, wish, lambda ctx: schedules.restore(ctx, found.name, asked.at), JobView.of)


@routes.get("/jobs/{job}/preview")
async def preview(
    ctx: Annotated[Context, may("jobs.preview")], job: JobRef, many: Annotated[int, Query(ge=1, le=500)] = 5
) -> Echo:
    """What a job's schedule says, in two languages, and its coming fires."""
    return Echo.of(await schedules.preview(ctx, await jobs.named(ctx, job), many=many))


@routes.post("/preview")
async def imagine(ctx: Annotated[Context, may("jobs.preview")], asked: NewJob) -> JobView:
    """A job that is not made: what would be understood, and when it would fire. Nothing is written."""
    now = ctx.store.cell(ctx.tenant.shard(asked.name)).clock.now()
    definition = asked.definition(ctx.tenant, asked.name, now)
    known = await calendars.known(ctx, [rule.calendar for rule in definition.policies.calendars])
    return JobView.of(*imagined(ctx, asked.name, definition, known))


@routes.post("/jobs/{job}/test")
async def try_(
    ctx: Annotated[Context, may("jobs.test")], asking: Asking, request: Request, job: JobRef, asked: NewTrial
) -> TrialView:
    """Really call a job's target once, marked as a test; nothing fires and nothing is written."""
    trials: Trials | None = request.app.state.trials
    if trials is None:
        raise Unavailable("this process sends no calls")
    return TrialView.of(await trials.run(ctx, asking.allowance, await jobs.named(ctx, job), asked.payload))


@routes.post("/bulk/jobs")
async def many(ctx: Annotated[Context, may("jobs.bulk")], asked: Many, key: OptionalKey = None) -> DoneView:
    """Pause, resume, trigger or retry many jobs; each is answered for itself. A trigger demands an Idempotency-Key.

    The key stands for this verb and these filters, over all their pages: `after` and `limit` may differ.
    """
    if asked.verb is Verb.TRIGGER and key is None:
        raise KeyRequired("a trigger needs an Idempotency-Key header of 1 to 200 printable characters")
    wanted, after, limit = asked.wanted(), asked.after, asked.limit
    body = asked.model_dump(mode="json", exclude={"after", "limit"})
    async with bound(ctx, "jobs.bulk", key, body) if key is not None else nullcontext():
        return DoneView.of(await bulk.run(ctx, asked.verb, wanted, key=key, after=after, limit=limit))


@routes.get("/forecast")
async def forecast(
    ctx: Annotated[Context, may("jobs.forecast")],
    hours: Annotated[float, Query(gt=0, le=72, allow_inf_nan=False, description="How far ahead.")] = 24,
) -> ForecastView:
    """How many fires are coming, minute by minute, and which seconds are the worst.

    The work is bounded. Where a tenant has too many jobs, or jobs that fire too often, those that fire least are
    counted, and `complete` is false.
    """
    return ForecastView.of(await forecasts.forecast(ctx, hours=hours))
