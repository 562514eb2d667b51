"""Limits that several nodes share, in slices: `take` and `give` cost no statement, a duty renews what is used.

Each key has one home cell. When it cannot be reached the last slice stays in force until it runs out (a rate's calls
with their frames, permits after `LIFE`), then nothing is granted. `docs/limits.md` says what that means for the limit.
"""

import asyncio
import heapq
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import count, groupby, zip_longest
from typing import Final
from uuid import UUID

from horae.domain.errors import ShardClosed
from horae.domain.limits import Key, Limit
from horae.engine.quotas.bursar import Bursar
from horae.engine.quotas.pacing import Pacer
from horae.engine.quotas.slices import MANY, ROUND, Slice
from horae.runtime.clock import boottime
from horae.store.cells import Store

LIFE: Final = timedelta(seconds=5)
MAX_KEYS_PER_ROUND: Final = 200
"""A round decides about its keys without a pause, while their rows are locked: some 30 ms."""
MARGIN: Final = 0.2
"""The part of its life by which a node stops using a hold before the others may count it as gone."""


class Quotas:
    """This node's slices of all shared limits. `granted(key)` is called when what was refused may be tried again.

    A call that was taken and counts against a rate leaves by the `pacer`.
    """

    def __init__(
        self,
        store: Store,
        incarnation: UUID,
        granted: Callable[[Key], None] = lambda _key: None,
        *,
        life: timedelta = LIFE,
    ) -> None:
        self._store = store
        self._incarnation = incarnation
        self.pacer = Pacer(self, granted)
        self._life = life
        self._slices: dict[Key, Slice] = {}
        self._planned: list[tuple[float, int, Key]] = []
        self._order = count()
        self._rounds: dict[str, asyncio.Task[int]] = {}
        self._closing = False
        self._bursars = {cell.name: Bursar(cell, incarnation, life) for cell in store.cells}

    def take(self, key: Key, limit: Limit) -> bool:
        """Whether one more may go now; if so it counts as running until `give`. From memory, at once."""
        if limit.rate is None and limit.concurrency is None:
            return True
        kept = self._slices.get(key)
        if kept is None:
            life = self._life.total_seconds() * (1 - MARGIN)
            kept = self._slices[key] = Slice(limit, life, self._shift_s(key))
        tick = boottime()
        kept.heed(limit, tick)
        taken = kept.take(tick, rated=limit.rate is not None)
        if kept.planned_at is None or not taken:
            self._plan(key, kept, tick)
            if not taken and limit.rate is not None:
                self.pacer.plan(key)
        return taken

    def leave(self, keys: Sequence[Key]) -> Key | None:
        """Let a call that was taken leave in the present frame of each key; or not, and say which key has no place."""
        tick, slices = boottime(), self._slices
        if len(keys) > 1:
            for key in keys:
                if (kept := slices.get(key)) is not None and not kept.has_place(tick):
                    return key
        for key in keys:
            if (kept := slices.get(key)) is not None and not kept.leave(tick):
                return key
        return None

    def reached(self, keys: Sequence[Key], lead_s: float) -> None:
        """A call that was taken took so long until it could leave."""
        for key in keys:
            if (kept := self._slices.get(key)) is not None:
                kept.reached(lead_s)

    def next_place_s(self, key: Key) -> float | None:
        """Seconds until a call may have a place, to leave or to be admitted; None where no round has granted any."""
        kept = self._slices.get(key)
        return None if kept is None else kept.next_place_s(boottime())

    def give(self, key: Key) -> None:
        """What was taken has ended."""
        if (kept := self._slices.get(key)) is not None:
            tick = boottime()
            kept.give(tick)
            self._plan(key, kept, tick)

    def undo(self, key: Key) -> None:
        """What was taken did not go after all."""
        if (kept := self._slices.get(key)) is not None:
            tick = boottime()
            kept.undo(tick)
            self._plan(key, kept, tick)

    def room(self, key: Key) -> int:
        """How many could go now; any number where nothing is known of a limit."""
        kept = self._slices.get(key)
        return MANY if kept is None else kept.room(boottime())

    def wait(self, key: Key, many: int) -> None:
        """So many wait for a key without asking again and again."""
        if (kept := self._slices.get(key)) is not None:
            tick = boottime()
            kept.wait(many, tick)
            self._plan(key, kept, tick)
            if kept.limit.rate is not None:
                self.pacer.plan(key)

    async def once(self) -> int:
        """Renew the slices that need it, one round per cell; returns how many keys were asked for. None when idle.

        A round that takes long goes on by itself: the slices of another cell need theirs.
        """
        wanting = sorted(filter(self._reachable, self._due(boottime())), key=self._home)
        for name, keys in groupby(wanting, self._home):
            self._begin_round(name, list(keys))
        under_way = set(self._rounds.values())
        if not under_way:
            return 0
        done, _ = await asyncio.wait(under_way, timeout=None if self._closing else ROUND)
        return sum([task.result() for task in done])

    async def close(self) -> None:
        """Give back what is not in use, and hang up."""
        self._closing = True
        self.pacer.close()
        if self._rounds:
            await asyncio.wait(set(self._rounds.values()))
        for key, kept in self._slices.items():
            kept.retire()
            kept.planned_at = None
            self._plan(key, kept, boottime())
        for bursar in self._bursars.values():
            bursar.open_at = 0.0
        await self.once()
        for bursar in self._bursars.values():
            await bursar.line.close()

    def _plan(self, key: Key, kept: Slice, tick: float, *, after: float = 0.0) -> None:
        """Look at a slice when a round may be worth it, but not before `after`. One entry for each slice counts."""
        at = kept.due_at(tick)
        if at is not None:
            at = max(at, after)
            if kept.planned_at is None or at < kept.planned_at:
                kept.planned_at = at
                heapq.heappush(self._planned, (at, next(self._order), key))

    def _due(self, tick: float) -> list[Key]:
        """The slices for which a round is worth it now; those with nothing in them are forgotten."""
        found: list[Key] = []
        while self._planned and self._planned[0][0] <= tick:
            at, _, key = heapq.heappop(self._planned)
            kept = self._slices.get(key)
            if kept is None or kept.planned_at != at:
                continue
            kept.planned_at = None
            due_at = kept.due_at(tick)
            if due_at is None:
                del self._slices[key]
            elif due_at <= tick:
                found.append(key)
            else:
                self._plan(key, kept, tick)
        return found

    def _reachable(self, key: Key) -> bool:
        """Whether its shard is open somewhere; while it moves its slice lasts as long as it lasts."""
        try:
            self._home(key)
        except ShardClosed:
            tick = boottime()
            self._plan(key, self._slices[key], tick, after=tick + ROUND)
            return False
        return True

    def _home(self, key: Key) -> str:
        return self._store.cell(key.shard).name

    def _shift_s(self, key: Key) -> float:
        """By how much the clock of its home is ahead of ticks. While its shard is open nowhere, any cell's is near."""
        try:
            clock = self._store.cell(key.shard).clock
        except ShardClosed:
            clock = self._store.clock
        return clock.seconds() - boottime()

    def _begin_round(self, name: str, keys: Sequence[Key]) -> None:
        bursar, tick = self._bursars[name], boottime()
        open_at = tick + ROUND if name in self._rounds else bursar.open_at
        if tick < open_at:
            for key in keys:
                self._plan(key, self._slices[key], tick, after=open_at)
            return
        now, later = in_turns(keys, len(keys) if self._closing else MAX_KEYS_PER_ROUND)
        for key in later:
            self._plan(key, self._slices[key], tick, after=tick + ROUND)
        task = self._rounds[name] = asyncio.create_task(self._round(bursar, now))
        task.add_done_callback(lambda _task: self._rounds.pop(name))

    async def _round(self, bursar: Bursar, keys: Sequence[Key]) -> int:
        sent = boottime()
        slices = {key: self._slices[key] for key in keys}
        asks = {key: kept.ask(sent) for key, kept in slices.items()}
        grants = await bursar.renew(asks, {key: kept.limit for key, kept in slices.items()})
        now = boottime()
        for key, kept in slices.items():
            if self._slices.get(key) is not kept:
                continue  # forgotten meanwhile
            kept.shift_s = self._shift_s(key)
            new = (grant := grants.get(key)) is not None and kept.granted(asks[key], grant, sent, now)
            self._plan(key, kept, now)
            if kept.planned_at is None:
                del self._slices[key]
            elif new:
                self.pacer.granted(key)
        return len(grants)


def in_turns(keys: Sequence[Key], most: int) -> tuple[list[Key], list[Key]]:
    """At most so many of the keys, one of each tenant after the other, and the rest."""
    if len(keys) <= most:
        return list(keys), []
    of_tenants: dict[UUID, list[Key]] = {}
    for key in keys:
        of_tenants.setdefault(key.tenant_id, []).append(key)
    dealt = [key for turn in zip_longest(*of_tenants.values()) for key in turn if key is not None]
    return dealt[:most], dealt[most:]
