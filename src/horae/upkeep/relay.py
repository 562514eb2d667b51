"""The relay: what the ends of attempts asked for becomes tasks.

It goes over the shards this node holds, below the horizon of transactions, and remembers how far it came only after
what it read was done: a relay that is killed leaves work to be done again, which changes nothing. What cannot be done
just now holds back its own shard; what never can leaves an event that says so.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from horae.domain.errors import BadRequest, Conflict, Contended, HoraeError, Invalid, NotFound
from horae.domain.events import Event
from horae.domain.placement import Run, runs_of
from horae.runtime.telemetry import count, log
from horae.service import compensations
from horae.service.refusals import refusal_of
from horae.store import outbox, relays
from horae.store.cells import Cell, Store
from horae.store.each import Visits
from horae.store.relays import Asked

PAGE: Final = 200
NEVER: Final = (NotFound, Invalid, BadRequest, Conflict, msgspec.ValidationError)
Held = Callable[[Cell], Iterable[int]]


class Relay:
    """A duty: a page of every run of shards that is ours. `held` says which those are in a cell now."""

    def __init__(self, store: Store, held: Held) -> None:
        self.store = store
        self._held = held
        self._reached: dict[str, dict[int, int]] = {cell.name: {} for cell in store.cells}
        self._visits = Visits("relay")

    def reached(self, cell: str) -> int:
        """The transaction in a cell below which nothing is left to relay; 0 where that is not known yet."""
        return min(self._reached[cell].values(), default=0)

    async def once(self) -> int:
        """A page of each; returns how many tasks were made."""
        return await self._visits.each(self.store.cells, self._cell)

    async def _cell(self, cell: Cell) -> int:
        held = frozenset(self._held(cell))
        kept = self._reached[cell.name]
        for shard in kept.keys() - held:
            del kept[shard]  # another goes on with it; whoever gets it reads where he stopped
        wide, narrow = runs_of(held, self.store.shards_of(cell))
        runs = wide + [Run(shard, shard) for shard in narrow]
        return sum([await self._run(cell, run, run.among(held), kept) for run in runs])

    async def _run(self, cell: Cell, run: Run, ours: Sequence[int], kept: dict[int, int]) -> int:
        async with cell.statement() as tx:
            horizon = await relays.horizon(tx)  # before the look: what ends meanwhile is for the next
            if any(shard not in kept for shard in ours):
                found = await relays.positions(tx, run)
                for shard in ours:
                    kept.setdefault(shard, found.get(shard, 0))
            since = min(kept[shard] for shard in ours)
            page = await relays.asked(tx, run, since, horizon, PAGE)
        until = horizon if len(page) < PAGE else page[-1].xid + 1  # whole transactions: the last is not cut
        stuck, done = await self._relay(cell, [one for one in page if one.shard in kept and one.xid >= kept[one.shard]])
        if done:
            moved = {one.shard: stuck.get(one.shard, until) for one in done}
            async with cell.tx() as tx:
                await relays.move(tx, moved)
        for shard in ours:
            kept[shard] = max(kept[shard], stuck.get(shard, until))
        return len(done)

    async def _relay(self, cell: Cell, page: list[Asked]) -> tuple[dict[int, int], list[Asked]]:
        """Each in turn; a shard whose event cannot be relayed now waits there, and the others go on."""
        stuck: dict[int, int] = {}
        done = []
        for one in page:
            if one.shard in stuck:
                continue
            try:
                await self._make(cell, one)
            except Exception as error:
                refusal = refusal_of(error)
                if isinstance(refusal or error, NEVER) and not isinstance(refusal, Contended):
                    await self._refuse(cell, one, refusal or error)
                else:
                    self._later(one, refusal or error)
                    stuck[one.shard] = one.xid
                    continue
            done.append(one)
        return stuck, done

    async def _make(self, cell: Cell, one: Asked) -> None:
        ctx = await compensations.caller(self.store, cell, one.tenant_id)
        await compensations.make(ctx, one.instance_id, one.at, one.body)

    async def _refuse(self, cell: Cell, one: Asked, error: Exception) -> None:
        """Nothing is dropped in silence."""
        code = error.code if isinstance(error, HoraeError) else Invalid.code
        log.error("relay.refused", instance=str(one.instance_id), code=code, reason=str(error)[:500])
        count("relay.refused", 1)
        told = outbox.Told(one.shard, one.tenant_id, one.job_id, one.instance_id, {**one.body, "code": code})
        async with cell.tx() as tx:
            await relays.move(tx, {one.shard: one.xid})  # the fence, and where it stands
            await outbox.append_many(tx, Event.COMPENSATION_REFUSED, [told])

    def _later(self, one: Asked, error: Exception) -> None:
        log.warning("relay.waits", instance=str(one.instance_id), reason=str(error)[:500])
        count("relay.waits", 1)
