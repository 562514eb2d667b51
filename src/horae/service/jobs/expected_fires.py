"""The fires that the schedule of a job has in a range of time, such as those that a shadow job would have had."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from horae.domain.errors import Invalid
from horae.domain.jobs.jobs import Job
from horae.domain.schedules import FireVerdict, Schedule, fires
from horae.domain.schedules.triggers import OnceTrigger
from horae.domain.steps import Steps
from horae.runtime.heavy import run_in_slices
from horae.service.context import Context
from horae.service.schedules.schedules import schedule_of

MAX_RANGE: Final = timedelta(days=366)
"""The longest range of one request: the fires of each second of a year are counted within seconds."""


class ExpectedFires(NamedTuple):
    """The fire times of a job in a range. `next` is where the range goes on; None: these are all."""

    fires: list[datetime]
    next: datetime | None


async def expected_fires(ctx: Context, job: Job, since: datetime, until: datetime, limit: int) -> ExpectedFires:
    """Returns the first fire times that a job's schedule has from `since` to `until` (excluded), past or future."""
    if until - since > MAX_RANGE:
        raise Invalid(f"a range of expected fires has at most {MAX_RANGE.days} days")
    schedule = await schedule_of(ctx, job)
    async with ctx.memory.heavy.turn(ctx.tenant.id):
        return await run_in_slices(_first_fires(schedule, since, until, limit))


def _first_fires(schedule: Schedule, since: datetime, until: datetime, limit: int) -> Steps[ExpectedFires]:
    """The same in steps, one verdict at a time. The times are nominal: windows and jitter exist in Horae only."""
    trigger = schedule.trigger
    if isinstance(trigger, OnceTrigger):
        return ExpectedFires([trigger.at] if since <= trigger.at < until else [], None)
    found: list[datetime] = []
    for verdict in fires(schedule, since, until):
        if isinstance(verdict, FireVerdict):
            if len(found) == limit:
                return ExpectedFires(found, verdict.fire_time)
            found.append(verdict.fire_time)
        yield
    return ExpectedFires(found, None)
