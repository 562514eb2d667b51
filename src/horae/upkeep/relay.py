"""The relay: what the ends of attempts asked for becomes tasks.

It goes over the shards this node holds, below the horizon of transactions, and remembers how far it came only after
what it read was done: a relay that is killed leaves work to be done again, which changes nothing. What cannot be done
just now holds back its own shard; what never can leaves an event that says so.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from horae.domain.errors import HoraeError, Invalid
from horae.domain.events import Event
from horae.domain.placement import Run, runs_of
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import count, log
from horae.service import compensations
from horae.service.refusals import is_final, refusal_of
from horae.store import outbox, relays
from horae.store.cells import Cell, Store
from horae.store.each import Visits
from horae.store.relays import Asked

PAGE: Final = 200
MAX_EVENTS_SCANNED: Final = 10_000
"""Events of a cell that one look goes over, relayed or not."""
EVENTS_BETWEEN_PLACES: Final = 1000
"""After these the places of all shards are written: whoever takes one over goes over about as many again."""
RETRIES: Final = 20
"""Shards with an event that could not be relayed that are tried again in one round."""
Held = Callable[[Cell], Iterable[int]]


class RelayProgress:
    """What a relay remembers of one cell.

    `reached` has the transaction up to which each shard was relayed. The shards in `stuck` have an event that could not
    be relayed, the one tried longest ago first. `unwritten` counts events since all places were written.
    """

    def __init__(self) -> None:
        self.reached: dict[int, int] = {}
        self.stuck: dict[int, None] = {}
        self.unwritten = 0
        self._setbacks = Setbacks()

    def keep(self, held: frozenset[int]) -> None:
        """Forget the shards that another node goes on with."""
        for shard in self.reached.keys() - held:
            del self.reached[shard]
            self.stuck.pop(shard, None)

    def retries(self) -> list[int]:
        """The stuck shards whose turn it is."""
        return [shard for shard in self.stuck if self._setbacks.may_try(shard)][:RETRIES]

    def move(self, shards: Iterable[int], until: int, waits: Mapping[int, int], *, is_all: bool) -> None:
        """Shards were relayed below `until`, or to where one waits. A stuck one stays apart until that was `is_all`."""
        for shard in shards:
            self.reached[shard] = max(self.reached[shard], waits.get(shard, until))
            if shard in waits:
                self.stuck.pop(shard, None)
                self.stuck[shard] = None
                self._setbacks.failed(shard)
            elif shard in self.stuck:
                self._setbacks.succeeded(shard)
                if is_all:
                    del self.stuck[shard]


class Relay:
    """A duty: a page of every run of shards that is ours. `held` says which those are in a cell now."""

    def __init__(self, store: Store, held: Held) -> None:
        self.store = store
        self._held = held
        self._progress = {cell.name: RelayProgress() for cell in store.cells}
        self._visits = Visits("relay")

    def reached(self, cell: str) -> int:
        """The transaction in a cell below which nothing is left to relay; 0 where that is not known yet."""
        return min(self._progress[cell].reached.values(), default=0)

    async def once(self) -> int:
        """A page of each; returns how many tasks were made, or more than none where there is more to look at."""
        return await self._visits.each(self.store.cells, self._cell)

    async def _cell(self, cell: Cell) -> int:
        """All shards run by run without the stuck ones, which are tried one by one."""
        held, progress = frozenset(self._held(cell)), self._progress[cell.name]
        progress.keep(held)
        wide, narrow = runs_of(held, self.store.shards_of(cell))
        runs = wide + [Run(shard, shard) for shard in narrow]
        retries, done = progress.retries(), 0
        for run in runs:
            await self._learn(cell, run, run.among(held))
            if ours := [shard for shard in run.among(held) if shard not in progress.stuck]:
                done += await self._run(cell, run, ours, run.among(progress.stuck))
        for shard in retries:
            done += await self._run(cell, Run(shard, shard), [shard], ())
        await self._write_places(cell)
        return done

    async def _learn(self, cell: Cell, run: Run, ours: Sequence[int]) -> None:
        """Where the relay of each shard goes on that came to us."""
        reached = self._progress[cell.name].reached
        if any(shard not in reached for shard in ours):
            async with cell.statement() as tx:
                found = await relays.positions(tx, run)
            for shard in ours:
                reached.setdefault(shard, found.get(shard, 0))

    async def _run(self, cell: Cell, run: Run, ours: Sequence[int], without: Sequence[int]) -> int:
        progress = self._progress[cell.name]
        kept = progress.reached
        since = min(kept[shard] for shard in ours)
        async with cell.statement() as tx:
            horizon = await relays.horizon(tx)  # before the look: what ends meanwhile is for the next
            end = await relays.end_of_scan(tx, since, horizon, MAX_EVENTS_SCANNED)
            page = await relays.asked(tx, run, without, since, end, PAGE)
        until = end if len(page) < PAGE else page[-1].xid + 1  # whole transactions: the last is not cut
        waits, done = await self._relay(cell, [one for one in page if one.shard in kept and one.xid >= kept[one.shard]])
        if done:
            moved = {one.shard: waits.get(one.shard, until) for one in done}
            async with cell.tx() as tx:
                await relays.move(tx, moved)
        progress.move(ours, until, waits, is_all=until >= horizon)
        progress.unwritten += len(done) if end >= horizon else MAX_EVENTS_SCANNED
        return len(done) or int(until < horizon)

    async def _write_places(self, cell: Cell) -> None:
        """Those of quiet shards too, after some events: else their relay would begin anew with the first ever."""
        progress = self._progress[cell.name]
        if progress.unwritten >= EVENTS_BETWEEN_PLACES:
            async with cell.tx() as tx:
                await relays.move(tx, progress.reached)
            progress.unwritten = 0

    async def _relay(self, cell: Cell, page: list[Asked]) -> tuple[dict[int, int], list[Asked]]:
        """Each in turn; a shard whose event cannot be relayed now waits there, and the others go on."""
        waits: dict[int, int] = {}
        done = []
        for one in page:
            if one.shard in waits:
                continue
            try:
                await self._make(cell, one)
            except Exception as error:
                refusal = refusal_of(error)
                if isinstance(error, msgspec.ValidationError) or (refusal is not None and is_final(refusal)):
                    await self._refuse(cell, one, refusal or error)
                else:
                    self._later(one, refusal or error)
                    waits[one.shard] = one.xid
                    continue
            done.append(one)
        return waits, done

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
