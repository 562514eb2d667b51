"""A client that sets the times of tasks again and again, while everything else happens to their shards."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final

from horae.domain.errors import Contended, Unavailable
from horae.runtime.settings import CellSettings
from horae.service.context import Context
from horae.service.tasks import tasks
from horae.store.store import Store
from horae.store.tx import GONE
from tests.keyring import sealed
from tests.steps import query

FAR: Final = timedelta(days=300)
KEYS: Final = 30
TYPE: Final = "MOVED_KEYS"
REFUSED: Final = (Unavailable, Contended, *GONE)
WAITING: Final = "select business_key, fire_time from instance_live where business_key is not null"


class Rescheduler:
    """`acknowledged` has the last time of each key that was answered. Where it is refused, it asks again."""

    def __init__(self, ctx: Context, store: Store, pause_s: float) -> None:
        self._ctx = ctx._replace(store=sealed(store))
        self._store = store
        self._pause_s = pause_s
        self._start = store.cells[0].clock.now() + FAR
        self.acknowledged: dict[str, datetime] = {}
        self.answers = 0
        self.refused = 0
        self.is_ending = False

    async def run(self) -> None:
        """Set one time after another, until it is told to end. Every call gets its answer."""
        while not self.is_ending or len(self.acknowledged) < KEYS:
            key, at = f"k{self.answers % KEYS}", self._start + timedelta(seconds=self.answers)
            await self._set(key, at)
            self.acknowledged[key] = at
            self.answers += 1
            await asyncio.sleep(self._pause_s)

    async def _set(self, key: str, at: datetime) -> None:
        while True:
            try:
                await tasks.schedule(self._ctx, TYPE, key, at=at)
            except REFUSED:
                self.refused += 1
                await asyncio.sleep(0.01)
                await self._learn()
            else:
                return

    async def _learn(self) -> None:
        try:
            await self._store.learn_shards()
        except REFUSED:
            await asyncio.sleep(0.1)


@asynccontextmanager
async def rescheduling(ctx: Context, cells: Sequence[CellSettings], pause_s: float) -> AsyncIterator[Rescheduler]:
    """A client with connections of its own, while the block lasts."""
    async with Store.of(cells) as store:
        one = Rescheduler(ctx, store, pause_s)
        going = asyncio.create_task(one.run())
        try:
            yield one
        finally:
            one.is_ending = True
            await going


async def lost_reschedules(store: Store, caller: Rescheduler) -> list[str]:
    """The keys that do not wait once, at the time that was acknowledged last."""
    found: dict[str, list[datetime]] = {}
    for row in await query(store, WAITING):
        found.setdefault(row["business_key"], []).append(row["fire_time"])
    return [key for key, at in caller.acknowledged.items() if found.get(key) != [at]]
