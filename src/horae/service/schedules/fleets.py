"""The recurring jobs of a tenant, read for a forecast: page by page, without payloads and targets."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import chain
from typing import Final, NamedTuple

from msgspec.structs import replace

from horae.domain.forecast import MOST_WORK, Forecast, forecast_steps
from horae.domain.schedules import Schedule
from horae.domain.schedules.triggers import TriggerKind
from horae.runtime.heavy import run_in_slices
from horae.service.context import Context
from horae.service.schedules import calendars
from horae.store.schedules import schedules
from horae.store.schedules.schedules import NamedSchedule

MOST_JOBS: Final = 20_000
"""Jobs that a forecast reads at most."""
PAGE: Final = 500
"""Schedules per page."""
MINUTE: Final = timedelta(minutes=1)


class Fleet(NamedTuple):
    """The schedules of a tenant's recurring jobs, and their jobs by the key of the schedule.

    `complete`: these are all recurring jobs of the tenant.
    """

    jobs: Mapping[str, NamedSchedule]
    schedules: list[Schedule]
    complete: bool

    async def forecast(self, since: datetime, hours: float, *, without: str | None = None) -> Forecast:
        """Returns the fires per second from `since` on, without those of the job of that name."""
        wanted = self.schedules
        if without is not None:
            wanted = [one for one in wanted if self.jobs[one.key].name != without]
        until = since + timedelta(hours=hours)
        return await run_in_slices(forecast_steps(wanted, since, until, most=MOST_WORK))


def next_minute(now: datetime) -> datetime:
    """Returns the start of a forecast: the next whole minute of the clock."""
    return now.replace(second=0, microsecond=0) + MINUTE


async def read_fleet(ctx: Context) -> Fleet:
    """Returns the tenant's recurring jobs, with their calendars."""
    jobs, found, complete = await _recurring(ctx)
    named = {rule.calendar for schedule in found for rule in schedule.policies.calendars}
    days = await calendars.by_names(ctx, sorted(named))
    planned = [replace(one, calendars=days) if one.policies.calendars else one for one in found]
    return Fleet(jobs, planned, complete)


async def _recurring(ctx: Context) -> tuple[dict[str, NamedSchedule], list[Schedule], bool]:
    """Returns the tenant's recurring jobs by schedule key, their schedules, and whether these are all."""
    jobs: dict[str, NamedSchedule] = {}
    found: list[Schedule] = []
    unread = 0
    for kind in (TriggerKind.CRON, TriggerKind.INTERVAL):
        after = ""
        while len(found) < MOST_JOBS:
            page = await _page(ctx, kind, after)
            for job in page:
                if job.schedule is None:
                    unread += 1
                else:
                    jobs[job.schedule.key] = job
                    found.append(job.schedule)
            if len(page) < PAGE:
                break
            after = page[-1].name
        else:
            return jobs, found, False
    return jobs, found, not ctx.cells_down and not unread


async def _page(ctx: Context, kind: TriggerKind, after: str) -> list[NamedSchedule]:
    asked = await ctx.ask_each(lambda tx: schedules.page(tx, ctx.tenant.id, kind, after, PAGE))
    return sorted(chain.from_iterable(asked), key=lambda one: one.name)[:PAGE]
