"""Limits that several nodes share, in slices: `take` and `give` cost no statement, a duty renews what is used.

Each key has one home cell. When it cannot be reached the last slice stays in force until it runs out (tokens after a
second, permits after `LIFE`), then nothing is granted. See `docs/limits.md` for what that means for the limit.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Final
from uuid import UUID

from horae.domain.errors import ShardClosed
from horae.domain.limits import Key, Limit
from horae.engine.quotas.bursar import Bursar
from horae.engine.quotas.slices import MANY, Slice
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
        self._bursars = {cell.name: Bursar(cell, incarnation, life) for cell in store.cells}

    def take(self, key: Key, limit: Limit) -> bool:
        """Whether one more may go now; if so it counts as running until `give`. From memory, at once."""
        if limit.rate is None and limit.concurrency is None:
            return True
        kept = self._slices.get(key)
        if kept is None:
            kept = self._slices[key] = Slice(limit, self._life.total_seconds() * (1 - MARGIN))
        kept.limit = limit
        return kept.take(boottime())

    def give(self, key: Key) -> None:
        """What was taken has ended."""
        if (kept := self._slices.get(key)) is not None:
            kept.give(boottime())

    def undo(self, key: Key) -> None:
        """What was taken did not go after all."""
        if (kept := self._slices.get(key)) is not None:
            kept.undo(boottime())

    def room(self, key: Key) -> int:
        """How many could go now; any number where nothing is known of a limit."""
        kept = self._slices.get(key)
        return MANY if kept is None else kept.room(boottime())

    def wait(self, key: Key, many: int) -> None:
        """So many wait for a key without asking again and again."""
        if (kept := self._slices.get(key)) is not None:
            kept.wait(many, boottime())

    async def once(self) -> int:
        """Renew the slices that need it, one round per cell; returns how many keys were asked for. None when idle."""
        tick = boottime()
        due = [key for key, kept in self._slices.items() if kept.due(tick)]
        wanting = sorted(filter(self._reachable, due), key=self._home)
        rounds = [self._round(name, list(keys)) for name, keys in groupby(wanting, self._home)]
        asked = sum(await asyncio.gather(*rounds))
        self._slices = {key: kept for key, kept in self._slices.items() if not kept.empty}
        return asked

    async def close(self) -> None:
        """Give back what is not in use, and hang up."""
        for kept in self._slices.values():
            kept.retire()
        for bursar in self._bursars.values():
            bursar.open_at = 0.0
        await self.once()
        for bursar in self._bursars.values():
            await bursar.line.close()

    def _reachable(self, key: Key) -> bool:
        """Whether its shard is open somewhere; while it moves its slice lasts as long as it lasts."""
        try:
            self._home(key)
        except ShardClosed:
            return False
        return True

    def _home(self, key: Key) -> str:
        return self._store.cell(key.shard).name

    async def _round(self, name: str, keys: Sequence[Key]) -> int:
        bursar, sent = self._bursars[name], boottime()
        if sent < bursar.open_at:
            return 0
        asks = {key: self._slices[key].ask(sent) for key in keys}
        grants = await bursar.renew(asks, {key: self._slices[key].limit for key in keys})
        for key, grant in grants.items():
            if self._slices[key].granted(asks[key], grant, sent, boottime()):
                self._granted(key)
        return len(grants)
