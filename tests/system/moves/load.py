"""Jobs that fire at known times, and what the receiver's own log says about them."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.service.context import Context
from horae.store.store import Store
from tests.bulk import bulk_jobs
from tests.catcher import Arrival, Catcher

JOBS_MADE_PER_S = 2000
BEGIN_AFTER = timedelta(seconds=3)
"""The first fire is as long after the expected creation of all jobs."""
WAIT_S = 180.0
LOOK_INTERVAL_S = 0.5


class SteadyJobs(NamedTuple):
    """`jobs_per_s` jobs begin in each second of a period, and fire once in every period from then on."""

    jobs_per_s: int
    period_s: int
    start: datetime

    @property
    def many(self) -> int:
        return self.jobs_per_s * self.period_s

    def due(self, until: datetime) -> Iterator[tuple[str, datetime]]:
        """Every fire up to a time: the name of the job, and its fire time."""
        for phase in range(self.period_s):
            at = self.start + timedelta(seconds=phase)
            while at <= until:
                for number in range(phase * self.jobs_per_s, (phase + 1) * self.jobs_per_s):
                    yield f"steady-{number}", at
                at += timedelta(seconds=self.period_s)


async def make_jobs(ctx: Context, store: Store, catcher: Catcher, many: int, fires_per_s: int) -> SteadyJobs:
    """Make the jobs in all cells. They begin when all of them are there."""
    started = store.cells[0].clock.now().replace(microsecond=0)
    creation = timedelta(seconds=many / JOBS_MADE_PER_S)
    made = SteadyJobs(fires_per_s, many // fires_per_s, started + BEGIN_AFTER + creation)
    for phase in range(made.period_s):
        at = made.start + timedelta(seconds=phase)
        trigger = IntervalTrigger(made.period_s, at)
        definition = Definition(trigger=trigger, target=HttpTarget(f"{catcher.url}/{phase}"))
        await bulk_jobs(ctx, store, fires_per_s, definition, at, "steady", phase * fires_per_s)
    assert store.cells[0].clock.now() < made.start, "the jobs were made too slowly for their first fire"
    return made


class ReceiverLog:
    """The log of the receiver, by fire: the idempotency keys with which each of them arrived."""

    def __init__(self, catcher: Catcher) -> None:
        self._catcher = catcher
        self._read = 0
        self._keys: dict[tuple[str, datetime], set[str]] = {}
        self._calls: Counter[str] = Counter()

    async def missing(self, jobs: SteadyJobs, until: datetime) -> int:
        """How many fires that were due have not arrived, after waiting for them."""
        awaited = list(jobs.due(until))
        deadline = time.monotonic() + WAIT_S
        while True:
            self._go_on()
            awaited = [fire for fire in awaited if fire not in self._keys]
            if not awaited or time.monotonic() > deadline:
                return len(awaited)
            await asyncio.sleep(LOOK_INTERVAL_S)

    def doubled(self) -> int:
        """How many fires have arrived with two idempotency keys: no receiver could tell that they are one."""
        self._go_on()
        return sum(len(keys) > 1 for keys in self._keys.values())

    def repeated(self) -> int:
        """How many calls came again with the key of an earlier one: attempts that were cut off."""
        self._go_on()
        return self._calls.total() - len(self._calls)

    def fires(self) -> int:
        """How many fires have arrived."""
        self._go_on()
        return len(self._keys)

    def _go_on(self) -> None:
        fresh: list[Arrival] = self._catcher.arrivals[self._read :]
        self._read += len(fresh)
        for one in fresh:
            self._keys.setdefault((one.job, one.fire_time), set()).add(one.idempotency_key)
            self._calls[one.idempotency_key] += 1
