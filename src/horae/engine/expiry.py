"""Ends due instances that have waited for longer than their `expires_after`, whatever held them back.

1. A walk reads all due and waiting instances in the shards of this node: held back at a gate, waiting for a worker, or
   blocked by another fire of the job. It reads page by page, some pages per round.
2. The definition of an instance says how long it may wait. If the definition is missing, the instance goes on waiting.
3. The end is written only if the row is unchanged since it was read: a claim, a move or a cancellation in between wins.
   A later claim finds no row, so an ended instance is not sent.
4. Calls of ended instances at the front of a closed gate are dropped from memory, so that the next probe is a call that
   can be sent.

Pushed instances (calls that nodes send) are walked every 10 s while calls wait on this node, otherwise once an hour:
then a due instance that is not in memory belongs to a paused job or tenant. Queues and blocked fires are walked once a
minute, because only their rows show whether something waits.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from horae.domain.health.signals import AttemptResult as Counts
from horae.domain.instances.expiry import WaitingInstance, expire, expires_at
from horae.domain.instances.lifecycle import State
from horae.domain.jobs.jobs import Job
from horae.domain.placement import Run
from horae.domain.schedules.timers import Timer
from horae.domain.targets.targets import PUSHED
from horae.engine.admission.admission import Admission
from horae.engine.agenda import Agenda
from horae.engine.feeder import EVERY_CLASS
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.instances import expiry, instances
from horae.store.instances.expiry import BlockedMark, Expiration, QueueClass, QueueMark
from horae.store.jobs import jobs
from horae.store.nodes.scans import BEGINNING, ScanMark
from horae.store.tx import Tx

ROWS_PER_CLASS: Final = 200
"""Rows of each class that one statement reads."""
ROWS_ENDED_AT_ONCE: Final = 500
CLASSES_AT_ONCE: Final = 50
PAGES_PER_ROUND: Final = 20
PUSHED_INTERVAL: Final = timedelta(seconds=10)
IDLE_PUSHED_INTERVAL: Final = timedelta(hours=1)
UNPUSHED_INTERVAL: Final = timedelta(seconds=60)
MAX_NAMES_LOGGED: Final = 3
Waiting = tuple[WaitingInstance, Job]
Pages = AsyncIterator[list[WaitingInstance]]


class Expirer:
    """A duty in one cell. `waiting` returns how many calls are due on this node and not sent."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        definitions: Definitions,
        admission: Admission,
        agenda: Agenda,
        announce: Callable[[Timer], None],
        waiting: Callable[[], int],
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.definitions = definitions
        self.admission = admission
        self.agenda = agenda
        self.announce = announce
        self.waiting = waiting
        self._walk: Pages | None = None
        self._pushed_at = self._unpushed_at = BEGINNING

    async def once(self) -> int:
        """Read some pages of the walk, until a page had instances to end; returns how many were ended."""
        if not self.territory.shards or not self.cell.clock.trusted:
            return 0
        if self._walk is None:
            self._walk = self._pages(self._begin())
        for _ in range(PAGES_PER_ROUND):
            page = await anext(self._walk, None)
            if page is None:
                self._walk = None
                return 0
            if ended := await self._expire(page):
                return ended
        return 0

    def _begin(self) -> list[Callable[[Run], Pages]]:
        """The walks that are due now. A clock that was set back counts as elapsed time."""
        now = self.cell.clock.now()
        walks: list[Callable[[Run], Pages]] = []
        if abs(now - self._unpushed_at) >= UNPUSHED_INTERVAL:
            self._unpushed_at = now
            walks += [
                self._read_blocked,
                self._read_queued,
            ]  # blocked first: the end of another fire would release them
        if abs(now - self._pushed_at) >= (PUSHED_INTERVAL if self.waiting() else IDLE_PUSHED_INTERVAL):
            self._pushed_at = now
            walks.append(self._read_pushed)
        return walks

    async def _pages(self, walks: Sequence[Callable[[Run], Pages]]) -> Pages:
        for run in self.territory.runs:
            for walk in walks:
                async for page in walk(run):
                    yield page

    async def _read_pushed(self, run: Run) -> Pages:
        marks = {class_: ScanMark(*class_) for class_ in EVERY_CLASS}
        while marks:
            async with self.cell.statement() as tx:
                page = await expiry.overdue(tx, run, list(marks.values()), ROWS_PER_CLASS)
            rows: dict[tuple[int, int], list[WaitingInstance]] = defaultdict(list)
            for row in page:
                rows[row.priority, row.lane].append(row)
            for class_ in list(marks):
                if len(rows[class_]) < ROWS_PER_CLASS:
                    del marks[class_]
                else:
                    last = rows[class_][-1]
                    marks[class_] = marks[class_]._replace(at=last.due_at, shard=last.shard, id=last.id)
            yield page

    async def _read_blocked(self, run: Run) -> Pages:
        mark, more = BlockedMark(), True
        while more:
            async with self.cell.statement() as tx:
                page = await expiry.blocked(tx, run, mark, ROWS_PER_CLASS)
            more = len(page) == ROWS_PER_CLASS
            if more:
                mark = BlockedMark(page[-1].shard, page[-1].job_id, page[-1].id)
            yield page

    async def _read_queued(self, run: Run) -> Pages:
        """Read queues class by class. A class with more than a page is read to its end before the next one."""
        mark, more = QueueMark(), True
        while more:
            async with self.cell.statement() as tx:
                rows = await expiry.queued(tx, run, mark, CLASSES_AT_ONCE, ROWS_PER_CLASS)
            found: defaultdict[QueueClass, list[WaitingInstance]] = defaultdict(list)
            for class_, row in rows:
                found[class_] += [row] if row is not None else []
            cut = next((class_ for class_, members in found.items() if len(members) == ROWS_PER_CLASS), None)
            more = cut is not None or len(found) == CLASSES_AT_ONCE
            if cut is not None:
                mark = QueueMark(cut, found[cut][-1].due_at, found[cut][-1].id)
            elif more:
                last = next(reversed(found))
                mark = QueueMark(last, self.cell.clock.now(), UUID(int=(1 << 128) - 1))
            yield [row for members in found.values() for row in members]

    async def _expire(self, page: Sequence[WaitingInstance]) -> int:
        ours = [row for row in page if row.shard in self.territory.shards]
        if not ours:
            return 0
        wanted = {(row.shard, row.job_id, row.job_version) for row in ours}
        known, now = await self.definitions.load_from(self.cell, wanted), self.cell.clock.now()
        over = [
            (row, job)
            for row in ours
            if (job := known.get((row.job_id, row.job_version))) is not None and _is_over(row, job, now)
        ]
        ended = 0
        for first in range(0, len(over), ROWS_ENDED_AT_ONCE):
            ended += await self._end(over[first : first + ROWS_ENDED_AT_ONCE])
        return ended

    async def _end(self, over: Sequence[Waiting]) -> int:
        reasons = {job.id: self.admission.hold_reason(job) for _, job in over}
        endings = [Expiration(row, expire(row, job, reasons[job.id])) for row, job in over]

        async def work(tx: Tx) -> tuple[set[UUID], list[Timer]]:
            ended = await expiry.end(tx, endings)
            gone = [(row, job) for row, job in over if row.id in ended]
            singles = [job for _, job in gone if job.single]
            if singles:
                await jobs.complete(tx, [job.shard for job in singles], [job.id for job in singles])
            freed = [(row.shard, job.id) for row, job in gone if job.exclusive]
            blocked = await instances.blocked(tx, freed) if freed else []
            return ended, await instances.release(tx, blocked) if blocked else []

        ended, released = await self.cell.run(work)
        for timer in released:
            self.announce(timer)
        self._count([ending for ending in endings if ending.waiting.id in ended])
        for row, job in over:
            if row.id in ended and reasons[job.id] is None and self._is_ours(job):
                self.cell.level_counts.count_expired(row)
        self._drop_from_gates([(row, job) for row, job in over if row.id in ended])
        return len(ended)

    def _is_ours(self, job: Job) -> bool:
        """Whether only we could delay the calls of a job: no worker has to ask for them, and no limit counts them."""
        return isinstance(job.definition.target, PUSHED) and not self.admission.limits_of(job)

    def _count(self, endings: Sequence[Expiration]) -> None:
        for row, ended in endings:
            how = Counts.DEAD if ended.state == State.DEAD else Counts.SKIPPED
            self.cell.signal_counts.count_result(row.tenant_id, row.priority, row.lane, how)

    def _drop_from_gates(self, gone: Sequence[Waiting]) -> None:
        """Drop ended instances at the front of closed gates. Further back they stay, and their claims find no row."""
        if not gone:
            return
        found = {job.id: job for _, job in gone}
        ids = {row.id for row, _ in gone}
        for job in found.values():
            for ready in self.admission.drop(job, ids):
                self.agenda.forget(ready.timer)
        names = sorted({job.name for job in found.values()})[:MAX_NAMES_LOGGED]
        log.warning("instance.expired", cell=self.cell.name, count=len(gone), jobs=names)


def _is_over(waiting: WaitingInstance, job: Job, now: datetime) -> bool:
    at = expires_at(waiting, job)
    return at is not None and at <= now
