"""Routes that change and inspect jobs: versions, labels, occurrences, previews, tests, bulk actions."""

from contextlib import nullcontext
from typing import Annotated, Any

from fastapi import Path, Query
from starlette.requests import Request

from horae.api.idempotent import IdempotentRequest, OptionalKey, answer_once
from horae.api.models.base import Moment
from horae.api.models.bulk import BulkJobsRequest, BulkResultView
from horae.api.models.jobs import ExpectedFiresView, JobView, NewJob, SchedulePreview
from horae.api.models.operations import JobTestRequest, JobTestResult
from horae.api.models.versions import (
    JobDifferenceView,
    JobVersionView,
    MoveOccurrence,
    Occurrence,
    SetLabels,
    SetPeople,
    UpdateJob,
)
from horae.api.pages import Page, Paged
from horae.api.routes.jobs import JobRef
from horae.api.routing import Asking, may, router
from horae.domain.errors import KeyRequired, Unavailable
from horae.domain.instances.idempotency_keys import LONGEST_IDEMPOTENCY_KEY
from horae.domain.jobs.jobs import LAST_VERSION
from horae.service.context import Context
from horae.service.idempotency import bind_key
from horae.service.jobs import bulk, jobs, versions
from horae.service.jobs.bulk import BulkAction
from horae.service.jobs.expected_fires import expected_fires
from horae.service.jobs.previews import unsaved_job
from horae.service.schedules import schedules
from horae.service.targets.egress_warnings import warnings_of
from horae.service.targets.trials import Trials

routes = router("jobs")
VersionNumber = Annotated[int, Path(ge=1, le=LAST_VERSION)]


@routes.put("/jobs/{job}", response_model=JobView)
async def update_job(
    ctx: Annotated[Context, may("jobs.update")], job: JobRef, asked: UpdateJob, key: OptionalKey = None
) -> Any:
    """Update a job if it still has the given version. The new schedule applies from now on."""
    found = await jobs.find_by_ref(ctx, job)
    definition = asked.next(ctx.tenant, found, ctx.now(found.shard))
    warnings = await warnings_of(ctx, definition)
    return await answer_once(
        ctx,
        key,
        IdempotentRequest("jobs.update", found.name, found.shard, asked),
        lambda ctx: schedules.update(ctx, found.name, definition, version=asked.version),
        lambda job: JobView.of(job, warnings=warnings),
    )


@routes.patch("/jobs/{job}/labels", response_model=JobView)
async def set_job_labels(
    ctx: Annotated[Context, may("jobs.label")], job: JobRef, asked: SetLabels, key: OptionalKey = None
) -> Any:
    """Set or remove labels of a job."""
    found = await jobs.find_by_ref(ctx, job)
    wish = IdempotentRequest("jobs.label", found.name, found.shard, asked)
    return await answer_once(ctx, key, wish, lambda ctx: schedules.label(ctx, found.name, asked.labels), JobView.of)


@routes.patch("/jobs/{job}/people", response_model=JobView)
async def set_job_people(
    ctx: Annotated[Context, may("jobs.people")], job: JobRef, asked: SetPeople, key: OptionalKey = None
) -> Any:
    """Set the description, owner, runbook, contacts or alert limits of a job. Its schedule and target stay."""
    found = await jobs.find_by_ref(ctx, job)
    changes = asked.changes()
    wish = IdempotentRequest("jobs.people", found.name, found.shard, asked)
    return await answer_once(ctx, key, wish, lambda ctx: schedules.set_people(ctx, found.name, changes), JobView.of)


@routes.get("/jobs/{job}/versions")
async def list_job_versions(
    ctx: Annotated[Context, may("jobs.versions")], job: JobRef, paging: Paged
) -> Page[JobVersionView]:
    """List the versions of a job, newest first."""
    found = await jobs.find_by_ref(ctx, job, removed=True)
    page = await versions.listing(ctx, found, before=paging.after or LAST_VERSION, limit=paging.take)
    return paging.page(page, JobVersionView.of, lambda one: one.version)


@routes.get("/jobs/{job}/versions/{version}")
async def get_job_version(
    ctx: Annotated[Context, may("jobs.versions")], job: JobRef, version: VersionNumber
) -> JobVersionView:
    """Get one version of a job."""
    return JobVersionView.of(await versions.find(ctx, await jobs.find_by_ref(ctx, job, removed=True), version))


@routes.get("/jobs/{job}/diff")
async def compare_job_versions(
    ctx: Annotated[Context, may("jobs.versions")],
    job: JobRef,
    before: Annotated[int, Query(ge=1, le=LAST_VERSION, description="The older version.")],
    after: Annotated[int, Query(ge=1, le=LAST_VERSION, description="The newer version.")],
) -> list[JobDifferenceView]:
    """Compare two versions of a job. The response has one item per changed field."""
    found = await jobs.find_by_ref(ctx, job, removed=True)
    return [JobDifferenceView.of(one) for one in await versions.diff(ctx, found, before, after)]


@routes.post("/jobs/{job}/skip", response_model=JobView)
async def skip_occurrence(
    ctx: Annotated[Context, may("jobs.occurrence")], job: JobRef, asked: Occurrence, key: OptionalKey = None
) -> Any:
    """Skip one coming fire. It is recorded as skipped."""
    found = await jobs.find_by_ref(ctx, job)
    wish = IdempotentRequest("jobs.skip", found.name, found.shard, asked)
    return await answer_once(ctx, key, wish, lambda ctx: schedules.skip(ctx, found.name, asked.at), JobView.of)


@routes.post("/jobs/{job}/move", response_model=JobView)
async def move_occurrence(
    ctx: Annotated[Context, may("jobs.occurrence")], job: JobRef, asked: MoveOccurrence, key: OptionalKey = None
) -> Any:
    """Move one coming fire to another time, between the fire before it and the fire after it."""
    found = await jobs.find_by_ref(ctx, job)
    wish = IdempotentRequest("jobs.move", found.name, found.shard, asked)
    return await answer_once(
        ctx, key, wish, lambda ctx: schedules.move(ctx, found.name, asked.at, asked.to), JobView.of
    )


@routes.post("/jobs/{job}/restore", response_model=JobView)
async def restore_occurrence(
    ctx: Annotated[Context, may("jobs.occurrence")], job: JobRef, asked: Occurrence, key: OptionalKey = None
) -> Any:
    """Restore one coming fire that was skipped or moved."""
    found = await jobs.find_by_ref(ctx, job)
    wish = IdempotentRequest("jobs.restore", found.name, found.shard, asked)
    return await answer_once(ctx, key, wish, lambda ctx: schedules.restore(ctx, found.name, asked.at), JobView.of)


@routes.get("/jobs/{job}/preview")
async def preview_job(
    ctx: Annotated[Context, may("jobs.preview")],
    job: JobRef,
    many: Annotated[int, Query(ge=1, le=500, description="Number of coming fires.")] = 5,
) -> SchedulePreview:
    """Preview the schedule of a job: its description in English and Chinese, and its coming fires."""
    return SchedulePreview.of(await schedules.preview(ctx, await jobs.find_by_ref(ctx, job), many=many))


@routes.get("/jobs/{job}/expected-fires")
async def list_expected_fires(
    ctx: Annotated[Context, may("jobs.preview")],
    job: JobRef,
    since: Annotated[Moment, Query(description="Start of the time range.")],
    until: Annotated[Moment, Query(description="End of the time range, excluded.")],
    limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of fires.")] = 500,
) -> ExpectedFiresView:
    """List the fires that the schedule of a job has in a range of time, past or future, paused or not."""
    found = await jobs.find_by_ref(ctx, job)
    return ExpectedFiresView.of(await expected_fires(ctx, found, since, until, limit))


@routes.post("/preview")
async def preview_new_job(ctx: Annotated[Context, may("jobs.preview")], asked: NewJob) -> JobView:
    """Preview a new job: its full definition and its coming fires. Nothing is saved."""
    now = ctx.now(ctx.tenant.shard(asked.name))
    definition = asked.definition(ctx.tenant, asked.name, now)
    job, schedule = await unsaved_job(ctx, asked.name, definition)
    preview = schedules.preview_of(schedule, ctx.now(job.shard))
    return JobView.of(job, preview, warnings=await warnings_of(ctx, definition))


@routes.post("/jobs/{job}/test")
async def send_test_request(
    ctx: Annotated[Context, may("jobs.test")], asking: Asking, request: Request, job: JobRef, asked: JobTestRequest
) -> JobTestResult:
    """Send one test request to the target of a job. No instance is created."""
    trials: Trials | None = request.app.state.trials
    if trials is None:
        raise Unavailable("this API process does not send test requests")
    return JobTestResult.of(await trials.run(ctx, asking.allowance, await jobs.find_by_ref(ctx, job), asked.payload))


@routes.post("/bulk/jobs")
async def run_bulk_action(
    ctx: Annotated[Context, may("jobs.bulk")], asked: BulkJobsRequest, key: OptionalKey = None
) -> BulkResultView:
    """Pause, resume, trigger or retry many jobs, with a result for each. `trigger` requires an Idempotency-Key.

    With `dry_run` nothing changes, and no key is needed. The key belongs to the action and its filter, over all pages:
    `after` and `limit` may differ.
    """
    if asked.verb is BulkAction.TRIGGER and key is None and not asked.dry_run:
        most = LONGEST_IDEMPOTENCY_KEY
        raise KeyRequired(f"a trigger needs an Idempotency-Key header of 1 to {most} printable characters")
    wanted, after, limit = asked.to_domain(), asked.after, asked.limit
    body = asked.model_dump(mode="json", exclude={"after", "limit"})
    async with bind_key(ctx, "jobs.bulk", key, body) if key is not None else nullcontext():
        done = await bulk.run(ctx, asked.verb, wanted, key=key, after=after, limit=limit, dry_run=asked.dry_run)
        return BulkResultView.of(done)
