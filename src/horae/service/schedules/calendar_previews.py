"""Previews of calendars: what a changed one would do to the jobs that use it. Nothing is written."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from horae.domain.jobs.jobs import Job, JobFilter
from horae.domain.schedules.calendar_changes import FireChanges, change_steps
from horae.domain.schedules.calendars import Calendar
from horae.runtime.heavy import run_in_slices
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.limits import counts
from horae.service.schedules import calendars

MAX_JOBS: Final = 50
"""Jobs of one preview; the next request has the next ones."""
MAX_FIRES: Final = 200
"""Changed fires that are listed for each job."""


class JobEffect(NamedTuple):
    """A job that uses the calendar, and its fires that change; None for a job that fires by no schedule."""

    job: Job
    changes: FireChanges | None


class CalendarPreview(NamedTuple):
    """The effect on a page of the jobs, by name. `next` is the name after which the rest follows."""

    since: datetime
    until: datetime
    effects: list[JobEffect]
    next: str | None


async def preview(ctx: Context, calendar: Calendar, *, days: int, after: str = "", limit: int) -> CalendarPreview:
    """Returns what writing this calendar would change in the coming days. Refused as the write itself would be.

    A paused job is compared as if it were resumed now.
    """
    await counts.check_calendar(ctx, calendar)
    found = await jobs.page(ctx, JobFilter(calendar=calendar.name), after=after, limit=limit + 1)
    named = {name for job in found for name in job.calendars} | {calendar.name}
    known = await calendars.by_names(ctx, sorted(named))
    changed = known | {calendar.name: calendar}
    since = ctx.now()
    until = since + timedelta(days=days)
    effects = []
    async with ctx.memory.heavy.turn(ctx.tenant.id):
        for job in found[:limit]:
            changes = None
            if job.recurring:
                steps = change_steps(job.schedule(known), job.schedule(changed), since, until, MAX_FIRES)
                changes = await run_in_slices(steps)
            effects.append(JobEffect(job, changes))
    return CalendarPreview(since, until, effects, found[limit - 1].name if len(found) > limit else None)
