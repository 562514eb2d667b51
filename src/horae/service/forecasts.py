"""Forecasts: how many fires of the tenant's jobs are coming, second by second.

The work is bounded whatever the jobs are, runs in slices beside everything else that the process does, and reads jobs
and calendars a page at a time.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from horae.domain.calendars import Calendar
from horae.domain.forecast import MOST_WORK, Forecast, forecast_steps
from horae.domain.jobs import Job, Wanted
from horae.domain.schedule import Schedule
from horae.domain.triggers import Kind
from horae.runtime.heavy import run_in_slices
from horae.service import calendars, jobs
from horae.service.context import Context

MOST_JOBS: Final = 20_000
PAGE: Final = 500
MINUTE: Final = timedelta(minutes=1)


class Worst(NamedTuple):
    """A second with many fires, and the names of the jobs behind them."""

    at: datetime
    fires: int
    jobs: list[str]


class Foreseen(NamedTuple):
    """A forecast and its worst seconds. `complete`: every recurring job of the tenant is counted."""

    forecast: Forecast
    worst: list[Worst]
    jobs: int
    complete: bool


async def forecast(ctx: Context, *, hours: float = 24) -> Foreseen:
    """Fires per second of all the tenant's jobs from the next minute on, and who is behind the worst of them."""
    async with ctx.memory.heavy.turn(ctx.tenant.id):
        found, all_read = await _recurring(ctx)
        days = await calendars.known(ctx, sorted({name for job in found for name in job.calendars}))
        now = ctx.store.clock.now()
        since = now.replace(second=0, microsecond=0) + MINUTE  # so that its minutes are those of the clock
        schedules = [_schedule(job, days) for job in found]
        until = since + timedelta(hours=hours)
        made = await run_in_slices(forecast_steps(schedules, since, until, most=MOST_WORK))
        worst = await run_in_slices(made.worst_steps())
        behind = await run_in_slices(made.behind_steps([at for at, _ in worst]))
    names = {str(job.id): job.name for job in found}
    told = [
        Worst(at, fires, sorted(names[one.key] for one in who)) for (at, fires), who in zip(worst, behind, strict=True)
    ]
    return Foreseen(made, told, len(found) - made.left_out, all_read and not made.left_out)


def _schedule(job: Job, days: Mapping[str, Calendar]) -> Schedule:
    return job.schedule(days if job.calendars else {})


async def _recurring(ctx: Context) -> tuple[list[Job], bool]:
    """The tenant's recurring jobs, by kind and name, and whether these are all."""
    found: list[Job] = []
    for kind in (Kind.CRON, Kind.INTERVAL):
        after = ""
        while len(found) < MOST_JOBS:
            page = await jobs.page(ctx, Wanted(kind=kind), after=after, limit=PAGE, whole=False)
            found += page
            if len(page) < PAGE:
                break
            after = page[-1].name
        else:
            return found, False
    return found, not ctx.cells_down
