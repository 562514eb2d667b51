"""Limits that several nodes share, in slices: `take` and `give` cost no statement, a duty renews what is used.

Each key has one home cell. When it cannot be reached the last slice stays in force until it runs out (tokens after a
second, permits after `LIFE`), then nothing is granted. See `docs/limits.md` for what that means for the limit.
"""

import asyncio
import heapq
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import count, groupby
from typing import Final
from uuid import UUID

from horae.domain.errors import ShardClosed
from horae.domain.limits import Key, Limit
from horae.engine.quotas.bursar import Bursar
from horae.engine.quotas.slices import MANY, ROUND, Slice
from horae.runtime.clock import boottime
from horae.store.cells import Store

LIFE: Final = timedelta(seconds=5)
MARGIN: Final = 0.2
"""The part of its life by which a node stops using a hold before the others may count it as gone."""


class Quotas:
    """This node's slices of all shared limits. `granted(key)` is called when what was refused may be tried again."""

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
        self._granted = granted
        self._life = life
        self._slices: dict[Key, Slice] = {}
        self._planned: list[tuple[float, int, Key]] = []
        self._order = count()
        self._bursars = {cell.name: Bursar(cell, incarnation, life) for cell in store.cells}

    def take(self, key: Key, limit: Limit) -> bool:
        """Whether one more may go now; if so it counts as running until `give`. From memory, at once."""
        if limit.rate is None and limit.concurrency is None:
            return True
        kept = self._slices.get(key)
        if kept is None:
            kept = self._slices[key] = Slice(limit, self._life.total_seconds() * (1 - MARGIN))
        kept.limit = limit
        tick = boottime()
        taken = kept.take(tick)
        if kept.planned_at is None or not taken:
            self._plan(key, kept, tick)
        return taken

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

    async def once(self) -> int:
        """Renew the slices that need it, one round per cell; returns how many keys were asked for. None when idle."""
        wanting = sorted(filter(self._reachable, self._due(boottime())), key=self._home)
        rounds = [self._round(name, list(keys)) for name, keys in groupby(wanting, self._home)]
        return sum(await asyncio.gather(*rounds))

    async def close(self) -> None:
        """Give back what is not in use, and hang up."""
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

    async def _round(self, name: str, keys: Sequence[Key]) -> int:
        bursar, sent = self._bursars[name], boottime()
        if sent < bursar.open_at:
            for key in keys:
                self._plan(key, self._slices[key], sent, after=bursar.open_at)
            return 0
        asks = {key: self._slices[key].ask(sent) for key in keys}
        grants = await bursar.renew(asks, {key: self._slices[key].limit for key in keys})
        now = boottime()
        for key in keys:
            kept = self._slices[key]
            new = (grant := grants.get(key)) is not None and kept.granted(asks[key], grant, sent, now)
            self._plan(key, kept, now)
            if kept.planned_at is None:
                del self._slices[key]
            elif new:
                self._granted(key)
        return len(grants)
