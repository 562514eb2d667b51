"""Shadow jobs: compares the fires they would have had with the log of another system. It fires and writes nothing."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from horae.domain.jobs.jobs import Job, JobFilter
from horae.domain.jobs.shadows import ShadowComparison, compare
from horae.domain.plans.plans import SHADOW
from horae.domain.schedules import FireVerdict, Schedule, fires
from horae.domain.schedules.triggers import OnceTrigger
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.schedules.schedules import schedule_of

PAGE: Final = 1000
"""Jobs per page."""


class Report(msgspec.Struct, frozen=True):
    """The comparison of every shadow job with the log. `unknown` has the names in the log that no shadow job has."""

    since: datetime
    until: datetime
    compared: list[ShadowComparison]
    unknown: list[str]

    @property
    def same(self) -> bool:
        """Whether both systems fired exactly the same."""
        return not self.unknown and all(one.same for one in self.compared)


async def listing(ctx: Context) -> list[Job]:
    """Returns every shadow job, by name."""
    found: list[Job] = []
    wanted = JobFilter(with_labels=(SHADOW,))
    while len(page := await jobs.page(ctx, wanted, after=found[-1].name if found else "", limit=PAGE)) == PAGE:
        found += page
    return found + page


async def report(
    ctx: Context, log: Mapping[str, Sequence[datetime]], since: datetime, until: datetime, tolerance: timedelta
) -> Report:
    """Compares the fires of each shadow job from `since` to `until` (excluded) with its entries in the log."""
    found = []
    for job in await listing(ctx):
        ours = _expected_fires(await schedule_of(ctx, job), since, until)
        theirs = [at for at in log.get(job.name, ()) if since - tolerance <= at < until + tolerance]
        found.append(compare(job.name, ours, theirs, tolerance))
    known = {one.name for one in found}
    return Report(since, until, found, sorted(set(log) - known))


def _expected_fires(schedule: Schedule, since: datetime, until: datetime) -> list[datetime]:
    """Returns nominal fire times: windows and jitter exist in Horae only."""
    if isinstance(schedule.trigger, OnceTrigger):
        return [schedule.trigger.at] if since <= schedule.trigger.at < until else []
    return [verdict.fire_time for verdict in fires(schedule, since, until) if isinstance(verdict, FireVerdict)]
