"""Moves cursors that were computed by another release of the time zone rules.

A process uses one release of tzdata from its start to its end. A new release comes with a new process.

1. A node that gains a shard reads the jobs of the shard once, page by page, and again every hour. A cron job with a
   zone is outdated if its definition names another release.
2. The cursor of an outdated job moves to the first fire after now by our rules. If it is due already, it stays: that
   fire still happens, and the firing node computes the next one by our rules.
3. The transaction that moves cursors also writes our release into the definitions. So the next owner reads the pages
   and changes nothing.
4. While two releases run at the same time, a shard follows the rules of its owner: an owner with older rules moves the
   cursors back, and the next owner with newer rules moves them again.
5. If a cursor moved between the read and the write, its page is read again, after all others.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import HoraeError
from horae.domain.instances.instances import Priority
from horae.domain.jobs.jobs import Job
from horae.domain.placement import Run, runs_of
from horae.domain.schedules import wake_after_change
from horae.domain.schedules.timers import Timer, cursor_of
from horae.domain.steps import Steps
from horae.domain.zones.zones import tzdata_version
from horae.engine.territory import Territory
from horae.runtime.clock import boottime
from horae.runtime.heavy import run_in_slices
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.schedules import zone_rules
from horae.store.schedules.zone_rules import Key, OutdatedJob
from horae.store.tx import Tx

JOBS_PER_PAGE: Final = 1_000
JOBS_PER_TRANSACTION: Final = 100
"""Cursors that one transaction locks: fires of these cursors wait for it."""
WALK_INTERVAL_S: Final = 3_600.0
"""Seconds after which all shards are read again: an API server with older rules may have created jobs meanwhile."""
FIRST_ID: Final = UUID(int=0)


class Replan(NamedTuple):
    """A job, how often its cursor has fired, and the new time of the cursor; None: the cursor stays."""

    job: Job
    fired: int
    wake: datetime | None


class ZoneReplanner:
    """A duty for the shards that a node holds in one cell. `announce` gets the timer of every moved cursor."""

    def __init__(self, cell: Cell, territory: Territory, announce: Callable[[Timer], None]) -> None:
        self.cell = cell
        self.territory = territory
        self.announce = announce
        self._left: list[tuple[Run, Key]] = []
        self._walked_at = boottime()

    def look_at(self, shards: Iterable[int], here: Iterable[int]) -> None:
        """Read the jobs of gained shards. `here` are all shards of the cell."""
        wide, narrow = runs_of(shards, here)
        self._expect([*wide, *(Run(shard, shard) for shard in narrow)])

    async def once(self) -> int:
        """Process one page; returns how many cursors moved, or 1 if none moved and another page is left."""
        if not self.cell.clock.trusted or not self.cell.clock.was_read:
            return 0
        if not self._left and boottime() - self._walked_at >= WALK_INTERVAL_S:
            self._expect(self.territory.runs)
        if not self._left:
            return 0
        run, after = self._left[-1]
        release = tzdata_version()
        async with self.cell.statement() as tx:
            page = await zone_rules.page(tx, run, after, release, JOBS_PER_PAGE)
        ours = [one for one in page.outdated if one.job.shard in self.territory.shards]
        plans = await run_in_slices(_plan(ours, self.cell.clock.now()))
        moved, overtaken = await self._write(plans, release)
        if moved:
            log.info("zone_rules.cursors_moved", cell=self.cell.name, release=release, count=moved)
        self._left.remove((run, after))
        if page.last is not None:
            self._left.append((run, page.last))
        if overtaken:
            self._left.insert(0, (run, after))  # read last, so that it does not delay the other pages
            return 0
        return max(moved, int(bool(self._left)))

    def _expect(self, runs: Iterable[Run]) -> None:
        self._left += [(run, (run.first, FIRST_ID)) for run in runs]
        self._walked_at = boottime()

    async def _write(self, plans: Sequence[Replan], release: str) -> tuple[int, bool]:
        """Move cursors and record our release; returns how many moved, and whether a cursor had moved meanwhile."""
        moved, overtaken = 0, False
        for first in range(0, len(plans), JOBS_PER_TRANSACTION):
            part = plans[first : first + JOBS_PER_TRANSACTION]
            done = await self.cell.run(partial(_move, part, release))
            overtaken = overtaken or len(done) < len(part)
            for job, fired, wake in done:
                if wake is not None:
                    moved += 1
                    self.announce(cursor_of(job, wake, fired))
        return moved, overtaken


def _plan(outdated: Iterable[OutdatedJob], now: datetime) -> Steps[list[Replan]]:
    """Compute where the cursors go. A job whose zone our rules do not know is logged and left as it is."""
    plans = []
    for job, fired in outdated:
        wake = None
        try:
            if job.next_fire_at is not None and job.next_fire_at > now:
                schedule = job.schedule({})
                wake = wake_after_change(schedule, schedule, job.next_fire_at, now, fired=fired)
        except HoraeError as error:
            log.error("zone_rules.job_skipped", job=job.id, reason=str(error))
            continue
        plans.append(Replan(job, fired, wake if wake != job.next_fire_at else None))
        yield
    return plans


async def _move(plans: Sequence[Replan], release: str, tx: Tx) -> list[Replan]:
    """Move cursors; returns the plans that took effect. Cursors are locked before jobs, and in the order of fires."""
    moved: set[UUID] = set()
    for priority in Priority:
        moves = [(job, wake) for job, _, wake in plans if wake is not None and job.definition.priority == priority]
        if moves:
            moved |= await zone_rules.move(tx, priority, moves)
    done = [plan for plan in plans if plan.wake is None or plan.job.id in moved]
    if done:
        await zone_rules.record(tx, [plan.job for plan in done], release)
    return done
