"""Forecasts: how many fires of the tenant's jobs are expected, second by second.

The work is bounded for any number of jobs. It runs in slices, so that the event loop stays responsive, and reads
schedules page by page without payloads and targets.
"""

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


class Worst(NamedTuple):
    """A second with many fires, and the names of the jobs that fire then."""

    at: datetime
    fires: int
    jobs: list[str]


class ForecastResult(NamedTuple):
    """A forecast and its worst seconds. `complete`: it includes every recurring job of the tenant."""

    forecast: Forecast
    worst: list[Worst]
    jobs: int
    complete: bool


async def forecast(ctx: Context, *, hours: float = 24) -> ForecastResult:
    """Returns the tenant's fires per second from the next minute on, and the jobs behind the worst seconds."""
    async with ctx.memory.heavy.turn(ctx.tenant.id):
        names, found, all_read = await _recurring(ctx)
        named = {rule.calendar for schedule in found for rule in schedule.policies.calendars}
        days = await calendars.by_names(ctx, sorted(named))
        now = ctx.store.clock.now()
        since = now.replace(second=0, microsecond=0) + MINUTE  # whole minutes of the clock
        planned = [replace(one, calendars=days) if one.policies.calendars else one for one in found]
        until = since + timedelta(hours=hours)
        made = await run_in_slices(forecast_steps(planned, since, until, most=MOST_WORK))
        worst = await run_in_slices(made.worst_steps())
        behind = await run_in_slices(made.behind_steps([at for at, _ in worst]))
    answers = [
        Worst(at, fires, sorted(names[one.key] for one in who)) for (at, fires), who in zip(worst, behind, strict=True)
    ]
    return ForecastResult(made, answers, len(found) - made.left_out, all_read and not made.left_out)


async def _recurring(ctx: Context) -> tuple[dict[str, str], list[Schedule], bool]:
    """Returns the names of the tenant's recurring jobs by schedule key, their schedules, and whether these are all."""
    names: dict[str, str] = {}
    found: list[Schedule] = []
    unread = 0
    for kind in (TriggerKind.CRON, TriggerKind.INTERVAL):
        after = ""
        while len(found) < MOST_JOBS:
            page = await _page(ctx, kind, after)
            for name, schedule in page:
                if schedule is None:
                    unread += 1
                else:
                    names[schedule.key] = name
                    found.append(schedule)
            if len(page) < PAGE:
                break
            after = page[-1].name
        else:
            return names, found, False
    return names, found, not ctx.cells_down and not unread


async def _page(ctx: Context, kind: TriggerKind, after: str) -> list[NamedSchedule]:
    asked = await ctx.ask_each(lambda tx: schedules.page(tx, ctx.tenant.id, kind, after, PAGE))
    return sorted(chain.from_iterable(asked), key=lambda one: one.name)[:PAGE]
