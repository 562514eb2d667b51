"""The fires that the schedule of a job has in a range of time, such as those that a shadow job would have had."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from horae.domain.jobs.jobs import Job
from horae.domain.schedules import FireVerdict, Schedule, fires
from horae.domain.schedules.triggers import OnceTrigger
from horae.domain.steps import Steps
from horae.runtime.heavy import run_in_slices
from horae.service.context import Context
from horae.service.schedules.schedules import schedule_of


class ExpectedFires(NamedTuple):
    """The fire times of a job in a range. `next` is where the range goes on; None: these are all."""

    fires: list[datetime]
    next: datetime | None


async def expected_fires(ctx: Context, job: Job, since: datetime, until: datetime, limit: int) -> ExpectedFires:
    """Returns the first fire times that a job's schedule has from `since` to `until` (excluded), past or future."""
    schedule = await schedule_of(ctx, job)
    return await run_in_slices(_first_fires(schedule, since, until, limit))


def _first_fires(schedule: Schedule, since: datetime, until: datetime, limit: int) -> Steps[ExpectedFires]:
    """The same in steps, one fire at a time."""
    found: list[datetime] = []
    for at in _expected_fires(schedule, since, until):
        if len(found) == limit:
            return ExpectedFires(found, at)
        found.append(at)
        yield
    return ExpectedFires(found, None)


def _expected_fires(schedule: Schedule, since: datetime, until: datetime) -> Iterator[datetime]:
    """Yields nominal fire times: windows and jitter exist in Horae only."""
    if isinstance(schedule.trigger, OnceTrigger):
        yield from [schedule.trigger.at] if since <= schedule.trigger.at < until else []
        return
    yield from (verdict.fire_time for verdict in fires(schedule, since, until) if isinstance(verdict, FireVerdict))
