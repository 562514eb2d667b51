"""Routes of forecasts: the coming load, its busiest seconds, how to spread jobs, and what a new job would add."""

from typing import Annotated

from fastapi import Query

from horae.api.models.base import Moment
from horae.api.models.forecasts import (
    MAX_HOURS,
    ForecastView,
    SpreadProposalView,
    SpreadRequest,
    WhatIfView,
    WorstSecondsView,
)
from horae.api.models.jobs import NewJob
from horae.api.routing import may, router
from horae.service.context import Context
from horae.service.jobs.previews import unsaved_job
from horae.service.schedules import forecasts

routes = router("jobs")
Hours = Annotated[float, Query(gt=0, le=MAX_HOURS, allow_inf_nan=False, description="Number of hours to forecast.")]


@routes.get("/forecast")
async def get_forecast(ctx: Annotated[Context, may("jobs.forecast")], hours: Hours = 24) -> ForecastView:
    """Forecast the number of fires per minute, and the busiest seconds.

    If a tenant has too many jobs, or jobs that fire too often, only the jobs that fire least are counted, and
    `complete` is false.
    """
    return ForecastView.of(await forecasts.forecast(ctx, hours=hours))


@routes.get("/forecast/worst")
async def list_worst_seconds(
    ctx: Annotated[Context, may("jobs.forecast")],
    hours: Hours = 24,
    minute: Annotated[Moment | None, Query(description="Only the seconds of the minute that begins then.")] = None,
    seconds: Annotated[int, Query(ge=1, le=60, description="Maximum number of seconds.")] = 10,
    jobs: Annotated[int, Query(ge=1, le=500, description="Maximum number of jobs of a second.")] = 50,
) -> WorstSecondsView:
    """List the busiest seconds and minutes of the forecast, the worst first, with the jobs that fire in each second."""
    found = await forecasts.worst_seconds(ctx, hours=hours, minute=minute, seconds=seconds, jobs=jobs)
    return WorstSecondsView.of(found)


@routes.post("/forecast/spread")
async def propose_spread(ctx: Annotated[Context, may("jobs.forecast")], asked: SpreadRequest) -> SpreadProposalView:
    """Propose spread windows for jobs, by which their busiest seconds become calmer. Nothing is saved.

    No window is longer than `within`, than the time between two fires of the job, or than half of its `late_after`.
    `POST /plans/apply` with the `plan` of the response sets the windows.
    """
    found = await forecasts.propose_spread(ctx, asked.jobs, hours=asked.hours, within_s=asked.within)
    return SpreadProposalView.of(found)


@routes.post("/forecast")
async def forecast_new_job(
    ctx: Annotated[Context, may("jobs.forecast")], asked: NewJob, hours: Hours = 24
) -> WhatIfView:
    """Forecast with a new or changed job: the busiest second before and after it. Nothing is saved."""
    now = ctx.now(ctx.tenant.shard(asked.name))
    definition = asked.definition(ctx.tenant, asked.name, now)
    job, schedule = await unsaved_job(ctx, asked.name, definition)
    return WhatIfView.of(await forecasts.what_if(ctx, job.name, schedule, hours=hours))
