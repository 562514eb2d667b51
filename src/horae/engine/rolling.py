"""Rolls through the sets of rolling jobs: ends are written down, and the oldest subjects are occupied in batches.

Occupying a subject and giving birth to its refresh is one transaction, and a subject that is occupied is nobody else's:
whoever else believes to own the shard finds others. How calls are spread over a tick is remembered in memory only: a
node that begins anew spreads what is left over what is left. A set that cannot be rolled is left alone for a while: the
others go on.
"""

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain import keys
from horae.domain.ids import shard_in
from horae.domain.instances import Lane
from horae.domain.jobs import Job
from horae.domain.placement import SHARDS, Layout, Placement, Run, part_of
from horae.domain.rolling import AT_ONCE, BATCH, Pace, pace_of
from horae.domain.targets import HttpTarget, queue_of, slot_ms
from horae.domain.timers import Timer
from horae.domain.triggers import RollingTrigger
from horae.engine.territory import Territory
from horae.runtime.chance import minting, token
from horae.runtime.clock import boottime
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import log
from horae.store import jobs, subjects, tenants
from horae.store.cells import Cell
from horae.store.subjects import Birth
from horae.store.task_batches import Type
from horae.store.tx import COLLIDED, GONE, Tx

MOST_COUNTED: Final = 1_000_000
KNOWN_FOR: Final = 4
"""Looks, one a second, for which the list of sets is good."""
EVERYWHERE: Final = Placement(Layout.SPREAD, SHARDS)
"""Where the rows of a tenant may lie that this cell has not heard of yet."""
KNOWN_FOR_S: Final = 5.0
"""Seconds for which it is good where looks come seldom: nobody looks while there is no set."""

Work = Callable[[Job], Awaitable[bool]]
"""A batch of work for a set; true: there may be more of it."""


class Roller:
    """A duty of a node in one cell, over the shards it holds."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        follow: Callable[[Timer], None],
        held: Callable[[], Collection[UUID]] = lambda: (),
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.follow = follow
        self.held = held
        self._paces: dict[UUID, tuple[frozenset[int], Pace]] = {}
        self._known: list[Job] = []
        self._placements: dict[UUID, Placement] = {}
        self._under_way: Counter[UUID] = Counter()
        self._setbacks = Setbacks()
        self._looks = 0
        self._learnt_at = -KNOWN_FOR_S

    async def once(self) -> int:
        """A duty of every second: ends and what may run at once take turns, so that a quiet set costs little.

        Returns 0: its ticks have their own time.
        """
        if self.territory.shards and self.cell.clock.trusted:
            turn, self._looks = self._looks, self._looks + 1
            if turn % KNOWN_FOR == 0 or boottime() - self._learnt_at > KNOWN_FOR_S:
                await self._learn()
            await self._roll(ends=turn % 2 == 0, at_once=turn % 2 == 1)
        return 0

    async def whole(self) -> None:
        """Everything there is to do now."""
        if self.territory.shards and self.cell.clock.trusted:
            await self._learn()
            await self._roll(ends=True, at_once=True)

    async def _learn(self) -> None:
        """Which sets there are. Who is new or paused is heard of after some looks."""
        async with self.cell.statement() as tx:
            self._known = await jobs.rolling(tx)
            ids = [job.tenant_id for job in self._known]
            self._placements = await tenants.placements(tx, ids) if ids else {}
        self._learnt_at = boottime()
        known = {job.id for job in self._known}
        self._paces = {id_: pace for id_, pace in self._paces.items() if id_ in known}
        self._under_way = Counter({id_: many for id_, many in self._under_way.items() if id_ in known})

    async def _roll(self, *, ends: bool, at_once: bool) -> None:
        """Sets take turns, a batch each: one that is far behind delays the others by a batch."""
        turns = deque((job, self._work(job, ends=ends, at_once=at_once)) for job in self._known if self._may_roll(job))
        while turns:
            job, works = turns.popleft()
            try:
                if not await works[0](job):
                    works.popleft()
            except GONE:
                raise
            except Exception:
                log.exception("rolling.failed", job=str(job.id), pause_s=self._setbacks.failed(job.id))
                continue
            if works:
                turns.append((job, works))
            else:
                self._setbacks.succeeded(job.id)

    def _may_roll(self, job: Job) -> bool:
        return job.tenant_id not in self.held() and bool(self._part(job)) and self._setbacks.may_try(job.id)

    def _work(self, job: Job, *, ends: bool, at_once: bool) -> deque[Work]:
        """What there is to do for a set, a batch at a time."""
        works: deque[Work] = deque()
        if ends:
            works += [partial(self._finish, run) for run in self.territory.runs]
        if at_once:
            works.append(self._run_at_once)
        works.append(self._tick)
        return works

    async def _finish(self, run: Run, job: Job) -> bool:
        """Write down a batch of ends; returns whether there may be more."""
        async with self.cell.statement() as tx:
            ended = await subjects.finish(tx, job.id, run, BATCH)
        self._under_way[job.id] = max(0, self._under_way[job.id] - ended)
        return ended == BATCH

    async def _run_at_once(self, job: Job) -> bool:
        now = self.cell.clock.now()
        await self._batch(job, now, AT_ONCE, BATCH, Pace(now, job.version, now, 0.0))
        return False

    async def _tick(self, job: Job) -> bool:
        """Occupy a batch of what this tick is to take; returns whether there may be more."""
        trigger = job.definition.trigger
        assert isinstance(trigger, RollingTrigger)
        tick = trigger.tick(self.cell.clock.now())
        if tick is None:
            return False
        pace = await self._pace(job, trigger, tick)
        many = min(pace.batch(self.cell.clock.now()), pace.room(self._under_way[job.id]))
        if not many:
            return False
        taken = await self._batch(job, tick, trigger.aged(tick), many, pace)
        self._paces[job.id] = self.territory.shards, pace.after(self.cell.clock.now(), taken)
        return taken == many

    async def _pace(self, job: Job, trigger: RollingTrigger, tick: datetime) -> Pace:
        """How this tick is spread; found out once, and anew when the shards or the job are others."""
        held, pace = self._paces.get(job.id, (None, None))
        if pace is not None and (held, pace.tick, pace.version) == (self.territory.shards, tick, job.version):
            return pace
        aged, target = trigger.aged(tick), job.definition.target
        async with self.cell.statement() as tx:
            eligible = [await subjects.eligible(tx, job.id, aged, run, MOST_COUNTED) for run in self.territory.runs]
            occupied = [await subjects.occupied(tx, job.id, run, MOST_COUNTED) for run in self.territory.runs]
        self._under_way[job.id] = sum(occupied)
        rate = target.rate if isinstance(target, HttpTarget) else None
        ours = None if rate is None else rate * self._part(job)
        pace = pace_of(trigger, job.version, tick, self.cell.clock.now(), sum(eligible), ours)
        self._paces[job.id] = self.territory.shards, pace
        return pace

    def _part(self, job: Job) -> float:
        """Our part of the set, by its shards: the target's rate is for all of it, and others work on the rest."""
        placement = self._placements.get(job.tenant_id, EVERYWHERE).with_width(job.definition.width)
        return part_of(self.territory.shards, shard_in(job.tenant_id), placement)

    async def _batch(self, job: Job, tick: datetime, aged: datetime, many: int, pace: Pace) -> int:
        """Occupy a batch and give birth to it; returns how many. Nothing of it is left where that fails."""
        batch_no, target = token(), job.definition.target
        made = Type(job.tenant_id, job.id, job.version, job.definition.priority, slot_ms(target), queue_of(target))

        async def work(tx: Tx) -> list[Birth]:
            taken: list[tuple[int, str]] = []
            for run in self.territory.runs:
                if len(taken) < many:
                    taken += await subjects.occupy(tx, job.id, aged, run, many - len(taken), batch_no)
            if not taken:
                return []
            mint = minting(tx.now)
            births = [
                Birth(shard, key, mint(shard), keys.rolling(job.id, key, tick), due)
                for (shard, key), due in zip(taken, pace.times(tx.now, len(taken)), strict=True)
            ]
            ids = await subjects.birth(tx, made, batch_no, tick, births)
            return [birth for birth in births if birth.id in ids]

        try:
            born = await self.cell.run(work)
        except COLLIDED:
            return 0  # a key was taken out and put in again just now; the next look passes it over
        self._under_way[job.id] += len(born)
        if made.queue is None:
            for birth in born:
                self.follow(_timer(job, birth))
        return len(born)


def _timer(job: Job, birth: Birth) -> Timer:
    priority = job.definition.priority
    return Timer(birth.shard, birth.id, birth.due_at, job.tenant_id, priority, Lane.FIRST, job.id, job.version)
