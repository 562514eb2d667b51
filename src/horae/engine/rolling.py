"""Refreshes the subjects of rolling jobs: records refreshes that have ended, and starts the oldest subjects in batches.

1. One transaction occupies subjects and inserts their refreshes. An occupied subject is taken by no other node, even if
   that node believes that it owns the shard.
2. How the calls of a tick are spread over time is only in memory. After a restart the node spreads the rest of the
   calls over the rest of the tick.
3. A set that fails is left out for a while; the other sets go on.
"""

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.ids import shard_in
from horae.domain.instances import idempotency_keys
from horae.domain.instances.instances import Lane
from horae.domain.jobs.jobs import Job
from horae.domain.placement import SHARDS, Layout, Placement, Run, part_of
from horae.domain.rolling.rolling import AT_ONCE, BATCH, RollingPace, pace_of
from horae.domain.schedules.timers import Timer
from horae.domain.schedules.triggers import RollingTrigger
from horae.domain.targets.targets import HttpTarget, queue_of, slot_ms
from horae.engine.territory import Territory
from horae.runtime.clock import boottime
from horae.runtime.randomness import id_maker, new_token
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.jobs import jobs
from horae.store.rolling import subjects
from horae.store.rolling.subjects import RefreshRow
from horae.store.tasks.batches import Type
from horae.store.tenants import tenants
from horae.store.tx import COLLIDED, GONE, Tx

MOST_COUNTED: Final = 1_000_000
SETS_KNOWN_FOR_ROUNDS: Final = 4
"""Rounds, one a second, after which the list of sets is read again."""
EVERYWHERE: Final = Placement(Layout.SPREAD, SHARDS)
"""The placement of a tenant that this cell does not know yet."""
SETS_KNOWN_FOR_S: Final = 5.0
"""Seconds after which the list is read again if rounds are rare: while there is no set, no round runs."""

Work = Callable[[Job], Awaitable[bool]]
"""Does a batch of work for a set; returns whether there may be more."""


class Roller:
    """A duty in one cell, for the shards that the node holds there."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        announce: Callable[[Timer], None],
        held: Callable[[], Collection[UUID]] = lambda: (),
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.announce = announce
        self.held = held
        self._paces: dict[UUID, tuple[frozenset[int], RollingPace]] = {}
        self._known: list[Job] = []
        self._placements: dict[UUID, Placement] = {}
        self._under_way: Counter[UUID] = Counter()
        self._setbacks = Setbacks()
        self._looks = 0
        self._learnt_at = -SETS_KNOWN_FOR_S

    async def once(self) -> int:
        """A round of every second; returns 0, because ticks have their own pace.

        Every other round records ends, and the rounds between start subjects that need not wait for a tick. So a quiet
        set costs little.
        """
        if self.territory.shards and self.cell.clock.trusted:
            turn, self._looks = self._looks, self._looks + 1
            if turn % SETS_KNOWN_FOR_ROUNDS == 0 or boottime() - self._learnt_at > SETS_KNOWN_FOR_S:
                await self._learn()
            await self._roll(ends=turn % 2 == 0, at_once=turn % 2 == 1)
        return 0

    async def run_all(self) -> None:
        """Do everything that is to be done now, for `drain`."""
        if self.territory.shards and self.cell.clock.trusted:
            await self._learn()
            await self._roll(ends=True, at_once=True)

    async def _learn(self) -> None:
        """Read the list of sets. A set that is new or paused is noticed at the next reading."""
        async with self.cell.statement() as tx:
            self._known = await jobs.rolling(tx)
            ids = [job.tenant_id for job in self._known]
            self._placements = await tenants.placements(tx, ids) if ids else {}
        self._learnt_at = boottime()
        known = {job.id for job in self._known}
        self._paces = {id_: pace for id_, pace in self._paces.items() if id_ in known}
        self._under_way = Counter({id_: many for id_, many in self._under_way.items() if id_ in known})

    async def _roll(self, *, ends: bool, at_once: bool) -> None:
        """Work on all sets in turn, one batch each, so that a set that is far behind delays the others by one batch."""
        held = self.held()
        due = [job for job in self._known if job.tenant_id not in held and self._may_roll(job)]
        turns = deque((job, self._work(job, ends=ends, at_once=at_once)) for job in due)
        while turns:
            job, works = turns.popleft()
            try:
                if not await works[0](job):
                    works.popleft()
            except GONE:
                raise
            except Exception:
                log.exception("rolling.failed", job=job.id, pause_s=self._setbacks.record_failure(job.id))
                continue
            if works:
                turns.append((job, works))
            else:
                self._setbacks.record_success(job.id)

    def _may_roll(self, job: Job) -> bool:
        return bool(self._part(job)) and self._setbacks.may_try(job.id)

    def _work(self, job: Job, *, ends: bool, at_once: bool) -> deque[Work]:
        """The kinds of work for a set, in order; each call of one does a batch."""
        works: deque[Work] = deque()
        if ends:
            works += [partial(self._finish, run) for run in self.territory.runs]
        if at_once:
            works.append(self._run_at_once)
        works.append(self._tick)
        return works

    async def _finish(self, run: Run, job: Job) -> bool:
        """Record a batch of ended refreshes; returns whether there may be more."""
        async with self.cell.statement() as tx:
            ended = await subjects.finish(tx, job.id, run, BATCH)
        self._under_way[job.id] = max(0, self._under_way[job.id] - ended)
        return ended == BATCH

    async def _run_at_once(self, job: Job) -> bool:
        now = self.cell.clock.now()
        await self._batch(job, now, AT_ONCE, BATCH, RollingPace(now, job.version, now, 0.0))
        return False

    async def _tick(self, job: Job) -> bool:
        """Start a batch of the subjects of this tick; returns whether there may be more."""
        trigger = job.definition.trigger
        assert isinstance(trigger, RollingTrigger)
        tick = trigger.tick(self.cell.clock.now())
        if tick is None:
            return False
        pace = await self._pace(job, trigger, tick)
        many = min(pace.batch(self.cell.clock.now()), pace.room(self._under_way[job.id]))
        if not many:
            return False
        taken = await self._batch(job, tick, trigger.refreshed_before(tick), many, pace)
        self._paces[job.id] = self.territory.shards, pace.after(self.cell.clock.now(), taken)
        return taken == many

    async def _pace(self, job: Job, trigger: RollingTrigger, tick: datetime) -> RollingPace:
        """How the calls of this tick are spread. Computed once, and again when the shards or the job version change."""
        held, pace = self._paces.get(job.id, (None, None))
        if pace is not None and (held, pace.tick, pace.version) == (self.territory.shards, tick, job.version):
            return pace
        aged, target = trigger.refreshed_before(tick), job.definition.target
        async with self.cell.statement() as tx:
            eligible = [
                await subjects.count_eligible(tx, job.id, aged, run, MOST_COUNTED) for run in self.territory.runs
            ]
            occupied = [await subjects.count_occupied(tx, job.id, run, MOST_COUNTED) for run in self.territory.runs]
        self._under_way[job.id] = sum(occupied)
        rate = target.rate if isinstance(target, HttpTarget) else None
        ours = None if rate is None else rate * self._part(job)
        pace = pace_of(trigger, job.version, tick, self.cell.clock.now(), sum(eligible), ours)
        self._paces[job.id] = self.territory.shards, pace
        return pace

    def _part(self, job: Job) -> float:
        """The part of the set in our shards, 0 to 1. The target's rate is for the whole set, on all nodes."""
        placement = self._placements.get(job.tenant_id, EVERYWHERE).with_width(job.definition.width)
        return part_of(self.territory.shards, shard_in(job.tenant_id), placement)

    async def _batch(self, job: Job, tick: datetime, aged: datetime, many: int, pace: RollingPace) -> int:
        """Occupy subjects and insert their refreshes in one transaction; returns how many."""
        batch_no, target = new_token(), job.definition.target
        made = Type(job.tenant_id, job.id, job.version, job.definition.priority, slot_ms(target), queue_of(target))

        async def work(tx: Tx) -> list[RefreshRow]:
            taken: list[tuple[int, str]] = []
            for run in self.territory.runs:
                if len(taken) < many:
                    taken += await subjects.occupy(tx, job.id, aged, run, many - len(taken), batch_no)
            if not taken:
                return []
            new_id = id_maker(tx.now)
            new_rows = [
                RefreshRow(shard, key, new_id(shard), idempotency_keys.refresh_key(job.id, key, tick), due)
                for (shard, key), due in zip(taken, pace.times(tx.now, len(taken)), strict=True)
            ]
            ids = await subjects.insert_refreshes(tx, made, batch_no, tick, new_rows)
            return [new_row for new_row in new_rows if new_row.id in ids]

        try:
            inserted = await self.cell.run(work)
        except COLLIDED:
            return 0  # a key was removed and added again just now; the next round skips it
        self._under_way[job.id] += len(inserted)
        if made.queue is None:
            for new_row in inserted:
                self.announce(_timer(job, new_row))
        return len(inserted)


def _timer(job: Job, new_row: RefreshRow) -> Timer:
    priority = job.definition.priority
    return Timer(new_row.shard, new_row.id, new_row.due_at, job.tenant_id, priority, Lane.FIRST, job.id, job.version)
