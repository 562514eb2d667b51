"""Jobs in the shadow: what they would have fired, beside what another system did. Nothing fires or is written."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from horae.domain.jobs import Job, Wanted
from horae.domain.plans import SHADOW
from horae.domain.schedule import Fire, Schedule, fires
from horae.domain.shadows import Compared, compare
from horae.domain.triggers import OnceTrigger
from horae.service import jobs
from horae.service.context import Context
from horae.service.schedules import schedule_of

PAGE: Final = 1000


class Report(msgspec.Struct, frozen=True):
    """Every shadow beside the log. `unknown`: names in the log that no shadow has."""

    since: datetime
    until: datetime
    compared: list[Compared]
    unknown: list[str]

    @property
    def same(self) -> bool:
        """Whether both systems would have done the same, all of it."""
        return not self.unknown and all(one.same for one in self.compared)


async def listing(ctx: Context) -> list[Job]:
    """Every job in the shadow, by name."""
    found: list[Job] = []
    wanted = Wanted(with_labels=(SHADOW,))
    while len(page := await jobs.page(ctx, wanted, after=found[-1].name if found else "", limit=PAGE)) == PAGE:
        found += page
    return found + page


async def report(
    ctx: Context, log: Mapping[str, Sequence[datetime]], since: datetime, until: datetime, tolerance: timedelta
) -> Report:
    """What each shadow would have fired from `since` to `until` (excluded), beside its lines in the log."""
    found = []
    for job in await listing(ctx):
        ours = _expected(await schedule_of(ctx, job), since, until)
        theirs = [at for at in log.get(job.name, ()) if since - tolerance <= at < until + tolerance]
        found.append(compare(job.name, ours, theirs, tolerance))
    known = {one.name for one in found}
    return Report(since, until, found, sorted(set(log) - known))


def _expected(schedule: Schedule, since: datetime, until: datetime) -> list[datetime]:
    """By the nominal times: a window or a jitter is ours alone."""
    if isinstance(schedule.trigger, OnceTrigger):
        return [schedule.trigger.at] if since <= schedule.trigger.at < until else []
    return [verdict.fire_time for verdict in fires(schedule, since, until) if isinstance(verdict, Fire)]
