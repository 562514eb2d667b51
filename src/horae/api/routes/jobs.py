"""Routes of jobs: create, list, get, pause, resume, remove."""

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Path, Query

from horae.api.idempotent import IdempotentRequest, OptionalKey, answer_once
from horae.api.models.jobs import JobView, NewJob
from horae.api.models.problems import ProblemJobPage, ProblemJobView
from horae.api.models.recent_runs import RecentRunView
from horae.api.pages import Page, Paged, PageRequest
from horae.api.routing import may, router
from horae.domain.jobs.jobs import MOST_LABELS, Job, JobFilter, Status
from horae.domain.jobs.orders import START, JobMark, JobOrder, mark_of
from horae.domain.jobs.people import LONGEST_OWNER
from horae.domain.names import LONGEST_NAME
from horae.domain.schedules.triggers import TriggerKind
from horae.domain.targets.auth import LONGEST_SECRET_NAME
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_job, decrypt_job_or_mark
from horae.service.graphs.step_jobs import with_plan
from horae.service.jobs import edges, jobs, orders, problems
from horae.service.jobs.recent_runs import MOST_RECENT
from horae.service.jobs.recent_runs import of_jobs as runs_of_jobs
from horae.service.limits import holds
from horae.service.schedules import calendars, schedules
from horae.service.targets.egress_warnings import warnings_of
from horae.service.tenants.places import shard_of_job

routes = router("jobs")
ORDER: Final = (
    "Order of the list: `name`, `changed_at` (last changed first) or `next_fire_at` (soonest first, then the jobs "
    "without a next fire)."
)
JobRef = Annotated[str, Path(max_length=200, description="The id of the job (`job_…`), or its name.")]


@routes.post("/jobs", status_code=201, response_model=JobView)
async def create_job(ctx: Annotated[Context, may("jobs.create")], asked: NewJob, key: OptionalKey = None) -> Any:
    """Create a job. The response has its full definition and its coming fires."""
    shard = await shard_of_job(ctx, asked.name)
    now = ctx.now(shard)
    definition = asked.definition(ctx.tenant, asked.name, now)
    known = await calendars.by_names(ctx, [rule.calendar for rule in definition.policies.calendars])
    warnings = await warnings_of(ctx, definition)
    return await answer_once(
        ctx,
        key,
        IdempotentRequest("jobs.create", asked.name, shard, asked, 201, named_by_body=True),
        lambda ctx: jobs.create(ctx, asked.name, definition),
        lambda job: JobView.of(job, schedules.preview_of(job.schedule(known), now), warnings=warnings),
    )


@routes.get("/jobs")
async def list_jobs(
    ctx: Annotated[Context, may("jobs.list")],
    paging: Paged,
    status: Annotated[Status | None, Query(description="Filter on the status.")] = None,
    label: Annotated[
        list[str], Query(max_length=MOST_LABELS, description="Filter on a label: `key`, or `key=value`.")
    ] = [],  # noqa: B006
    prefix: Annotated[str, Query(max_length=LONGEST_NAME, description="Prefix filter on the job name.")] = "",
    kind: Annotated[TriggerKind | None, Query(description="Filter on the kind of the trigger.")] = None,
    owner: Annotated[str | None, Query(max_length=LONGEST_OWNER, description="Filter on the owner.")] = None,
    contains: Annotated[
        str, Query(max_length=LONGEST_NAME, description="Filter on a part of the job name, in upper or lower case.")
    ] = "",
    calendar: Annotated[
        str | None,
        Query(max_length=LONGEST_NAME, description="Filter on a calendar: the active and paused jobs that use it."),
    ] = None,
    secret: Annotated[
        str | None,
        Query(
            max_length=LONGEST_SECRET_NAME,
            description="Filter on a secret: the jobs that name it in their target, or in that of a step.",
        ),
    ] = None,
    order: Annotated[JobOrder, Query(description=ORDER)] = JobOrder.NAME,
    recent_runs: Annotated[
        int, Query(ge=0, le=MOST_RECENT, description="Number of recent runs to show for each job.")
    ] = 0,
) -> Page[JobView]:
    """List the jobs of the tenant that are not removed."""
    asked = [one.partition("=") for one in label]
    wanted = JobFilter(
        status=status,
        labels={key: value for key, equals, value in asked if equals},
        with_labels=tuple(key for key, equals, _ in asked if not equals),
        prefix=prefix,
        kind=kind,
        owner=owner,
        contains=contains,
        calendar=calendar,
        secret=secret,
    )
    found = await _find(ctx, wanted, order, paging)
    runs = await runs_of_jobs(ctx, [job.id for job in found[: paging.limit]], recent_runs)

    def show(job: Job) -> JobView:
        recent = [RecentRunView.of(run) for run in runs.get(job.id, [])] if recent_runs else None
        return JobView.of(job).model_copy(update={"recent_runs": recent})

    return paging.page([await decrypt_job_or_mark(ctx, job) for job in found], show, lambda job: _place(job, order))


async def _find(ctx: Context, wanted: JobFilter, order: JobOrder, paging: PageRequest) -> list[Job]:
    """Returns the jobs of a page and one more, if there is a next page."""
    if order is JobOrder.NAME:
        return await jobs.page(ctx, wanted, after=paging.after or "", limit=paging.take, whole=False, unreadable=True)
    return await orders.page(ctx, wanted, order, _mark(paging.after), paging.take)


def _mark(after: Any) -> JobMark:
    """Returns where a page begins, by the cursor of the page before."""
    if after is None:
        return START
    at, name = after
    return JobMark(None if at is None else datetime.fromisoformat(at), name)


def _place(job: Job, order: JobOrder) -> object:
    """Returns the position of a job for the cursor of the page that it ends."""
    mark = mark_of(job, order)
    return job.name if order is JobOrder.NAME else [None if mark.at is None else mark.at.isoformat(), mark.name]


@routes.get("/problem-jobs")
async def list_problem_jobs(
    ctx: Annotated[Context, may("jobs.problems")],
    paging: Paged,
    owner: Annotated[str | None, Query(max_length=LONGEST_OWNER, description="Filter on the owner.")] = None,
) -> ProblemJobPage:
    """List the jobs that have open dead letters or overdue instances, the worst first.

    A job whose last run died is worse than any other; then more dead letters of the last hour are worse. Page by page
    they are counted anew.
    """
    listed = await problems.listing(ctx, owner)
    begin = int(paging.after or 0)
    listed_jobs = [ProblemJobView.of(one) for one in listed.found[begin : begin + paging.limit]]
    end = begin + len(listed_jobs)
    page = paging.page_of(listed_jobs, end if end < len(listed.found) else None)
    return ProblemJobPage(**dict(page), is_complete=listed.is_complete)


@routes.get("/jobs/{job}")
async def get_job(ctx: Annotated[Context, may("jobs.read")], job: JobRef) -> JobView:
    """Get a job, its coming fires, the calls that its target and limits hold back, and warnings."""
    found = await with_plan(ctx, await decrypt_job(ctx, await jobs.find_by_ref(ctx, job)))
    preview, held = await schedules.preview(ctx, found), await holds.of_job(ctx, found)
    edge = await edges.progress(ctx, found)
    return JobView.of(found, preview, held, await warnings_of(ctx, found.definition), edge)


@routes.post("/jobs/{job}/pause", response_model=JobView)
async def pause_job(ctx: Annotated[Context, may("jobs.pause")], job: JobRef, key: OptionalKey = None) -> Any:
    """Pause a job: no fires and no claims. Running instances may finish."""
    found = await jobs.find_by_ref(ctx, job, unreadable=True)
    wish = IdempotentRequest("jobs.pause", found.name, found.shard)
    return await answer_once(ctx, key, wish, lambda ctx: jobs.pause(ctx, found.name), JobView.of)


@routes.post("/jobs/{job}/resume", response_model=JobView)
async def resume_job(ctx: Annotated[Context, may("jobs.resume")], job: JobRef, key: OptionalKey = None) -> Any:
    """Resume a job from now on. Missed fires are recorded as skipped."""
    found = await jobs.find_by_ref(ctx, job)
    wish = IdempotentRequest("jobs.resume", found.name, found.shard)
    return await answer_once(ctx, key, wish, lambda ctx: jobs.resume(ctx, found.name), JobView.of)


@routes.delete("/jobs/{job}")
async def remove_job(ctx: Annotated[Context, may("jobs.remove")], job: JobRef) -> JobView:
    """Remove a job for good. Waiting instances are cancelled; the history is kept."""
    return JobView.of(await jobs.remove(ctx, (await jobs.find_by_ref(ctx, job, unreadable=True)).name))
