"""Jobs: create, list, read, pause, resume, remove."""

from typing import Annotated, Any

from fastapi import Path, Query

from horae.api.idempotent import OptionalKey, Wish, answered
from horae.api.models.jobs import JobView, NewJob
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.jobs import Status, Wanted
from horae.domain.triggers import Kind
from horae.service import calendars, holds, jobs, schedules
from horae.service.context import Context
from horae.service.places import shard_of_job
from horae.service.sealing import shown, shown_or_not

routes = router("jobs")
JobRef = Annotated[str, Path(max_length=200, description="The id of a job (`job_…`), or its name.")]


@routes.post("/jobs", status_code=201, response_model=JobView)
async def create(ctx: Annotated[Context, may("jobs.create")], asked: NewJob, key: OptionalKey = None) -> Any:
    """Make a job. The answer says what was understood, and when it fires."""
    shard = await shard_of_job(ctx, asked.name)
    now = ctx.store.cell(shard).clock.now()
    definition = asked.definition(ctx.tenant, asked.name, now)
    known = await calendars.known(ctx, [rule.calendar for rule in definition.policies.calendars])
    return await answered(
        ctx,
        key,
        Wish("jobs.create", asked.name, shard, asked, 201, named_by_body=True),
        lambda ctx: jobs.create(ctx, asked.name, definition),
        lambda job: JobView.of(job, schedules.foretell(job.schedule(known), now)),
    )


@routes.get("/jobs")
async def listing(
    ctx: Annotated[Context, may("jobs.list")],
    paging: Paged,
    status: Annotated[Status | None, Query(description="Only jobs of this status.")] = None,
    label: Annotated[list[str], Query(max_length=32, description="Only with this label: `key`, or `key=value`.")] = [],  # noqa: B006
    prefix: Annotated[str, Query(max_length=120, description="Only names that begin so.")] = "",
    kind: Annotated[Kind | None, Query(description="Only jobs whose trigger is of this kind.")] = None,
) -> Page[JobView]:
    """The tenant's living jobs, by name."""
    asked = [one.partition("=") for one in label]
    wanted = Wanted(
        status=status,
        labels={key: value for key, equals, value in asked if equals},
        with_labels=tuple(key for key, equals, _ in asked if not equals),
        prefix=prefix,
        kind=kind,
    )
    found = await jobs.page(ctx, wanted, after=paging.after or "", limit=paging.take, whole=False)
    return paging.page([await shown_or_not(ctx, job) for job in found], JobView.of, lambda job: job.name)


@routes.get("/jobs/{job}")
async def read(ctx: Annotated[Context, may("jobs.read")], job: JobRef) -> JobView:
    """One job, its coming fires, and what its target and limits hold back."""
    found = await shown(ctx, await jobs.named(ctx, job))
    return JobView.of(found, await schedules.preview(ctx, found), await holds.of_job(ctx, found))


@routes.post("/jobs/{job}/pause", response_model=JobView)
async def pause(ctx: Annotated[Context, may("jobs.pause")], job: JobRef, key: OptionalKey = None) -> Any:
    """Stop fires and claims; what runs may finish."""
    found = await jobs.named(ctx, job)
    wish = Wish("jobs.pause", found.name, found.shard)
    return await answered(ctx, key, wish, lambda ctx: jobs.pause(ctx, found.name), JobView.of)


@routes.post("/jobs/{job}/resume", response_model=JobView)
async def resume(ctx: Annotated[Context, may("jobs.resume")], job: JobRef, key: OptionalKey = None) -> Any:
    """Go on from now; what passed is recorded as skipped."""
    found = await jobs.named(ctx, job)
    wish = Wish("jobs.resume", found.name, found.shard)
    return await answered(ctx, key, wish, lambda ctx: jobs.resume(ctx, found.name), JobView.of)


@routes.delete("/jobs/{job}")
async def remove(ctx: Annotated[Context, may("jobs.remove")], job: JobRef) -> JobView:
    """No fire any more; what waits is cancelled, history stays."""
    return JobView.of(await jobs.remove(ctx, (await jobs.named(ctx, job)).name))
