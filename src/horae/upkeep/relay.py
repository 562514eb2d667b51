"""The relay: creates the tasks that the ends of attempts requested (compensations).

1. It reads requests of the shards that this node holds, below the horizon: every transaction below it has ended.
2. It remembers a position only after the tasks are created. A relay that is killed repeats some work, which changes
   nothing.
3. A request that cannot be done now blocks its own shard, also where this release cannot read a row. One that can never
   be done leaves an event (COMPENSATION_REFUSED).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from horae.domain.errors import HoraeError
from horae.domain.events.events import Event
from horae.domain.placement import Run, runs_of
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import count, log
from horae.service.refusals import is_final, refusal_of
from horae.service.tasks import compensations
from horae.store.connections.each_cell import Visits
from horae.store.events import outbox
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tasks import relays
from horae.store.tasks.relays import CompensationRow

PAGE: Final = 200
"""Requests per page."""
MAX_EVENTS_SCANNED: Final = 10_000
"""Requests of a cell that one read goes over, relayed or not."""
EVENTS_BETWEEN_PLACES: Final = 1000
"""Requests after which the positions of all shards are written; a new holder of a shard reads about as many again."""
RETRIES: Final = 20
"""Stuck shards that one round tries again. A stuck shard has a request that could not be done."""
Held = Callable[[CellProtocol], Iterable[int]]


class RelayProgress:
    """The progress of a relay in one cell.

    `reached` has the transaction up to which each shard was relayed. `stuck` has the shards with a request that could
    not be done, the one tried longest ago first. `unwritten` counts requests since all positions were written.
    """

    def __init__(self) -> None:
        self.reached: dict[int, int] = {}
        self.stuck: dict[int, None] = {}
        self.unwritten = 0
        self._setbacks = Setbacks()

    def lowest(self) -> int:
        """Returns the transaction below which nothing is left to relay; 0 where that is not known yet."""
        return min(self.reached.values(), default=0)

    def keep(self, held: frozenset[int]) -> None:
        """Forget the shards that this node no longer holds."""
        for shard in self.reached.keys() - held:
            del self.reached[shard]
            self.stuck.pop(shard, None)

    def retries(self) -> list[int]:
        """Returns the stuck shards whose pause is over."""
        return [shard for shard in self.stuck if self._setbacks.may_try(shard)][:RETRIES]

    def move(self, shards: Iterable[int], until: int, waits: Mapping[int, int], *, is_all: bool) -> None:
        """Record that shards were relayed below `until`, or up to a request that waits.

        A stuck shard stays in `stuck` until nothing is left to relay (`is_all`).
        """
        for shard in shards:
            self.reached[shard] = max(self.reached[shard], waits.get(shard, until))
            if shard in waits:
                self.stuck.pop(shard, None)
                self.stuck[shard] = None
                self._setbacks.record_failure(shard)
            elif shard in self.stuck:
                self._setbacks.record_success(shard)
                if is_all:
                    del self.stuck[shard]


class Relay:
    """A duty: relay a page of each run of shards. `held` returns the shards of a cell that this node holds now.

    `progress` has the progress in each cell by its name, for others who watch it.
    """

    def __init__(self, store: StoreProtocol, held: Held, progress: Mapping[str, RelayProgress] | None = None) -> None:
        self.store = store
        self._held = held
        self._progress = progress or {cell.name: RelayProgress() for cell in store.cells}
        self._visits = Visits("relay")

    def relayed_until(self, cell: str) -> int:
        """Returns the transaction of a cell below which nothing is left to relay; 0 where that is not known yet."""
        return self._progress[cell].lowest()

    async def once(self) -> int:
        """Relay a page of each run. Returns how many tasks were created, or more than 0 where there may be more."""
        return await self._visits.each(self.store.cells, self._cell)

    async def _cell(self, cell: CellProtocol) -> int:
        """Relay all shards run by run without the stuck ones, then try some stuck shards one by one."""
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

    async def _learn(self, cell: CellProtocol, run: Run, ours: Sequence[int]) -> None:
        """Read the positions of shards that this node has just begun to hold."""
        reached = self._progress[cell.name].reached
        if any(shard not in reached for shard in ours):
            async with cell.statement() as tx:
                found = await relays.positions(tx, run)
            for shard in ours:
                reached.setdefault(shard, found.get(shard, 0))

    async def _run(self, cell: CellProtocol, run: Run, ours: Sequence[int], without: Sequence[int]) -> int:
        """Relay a page of some shards of a run. Returns how many requests were done, or 1 where there may be more.

        1. Read the horizon, then the end of the scan (`MAX_EVENTS_SCANNED` requests at most), then a page of requests.
        2. A full page ends after its last whole transaction.
        3. Skip requests that their shard has already passed, and create the tasks of the others.
        4. Write the positions of shards with new tasks. The other positions are only remembered (`_write_places`).
        """
        progress = self._progress[cell.name]
        kept = progress.reached
        since = min(kept[shard] for shard in ours)
        async with cell.statement() as tx:
            horizon = await relays.horizon(tx)  # before the page is read
            end = await relays.end_of_scan(tx, since, horizon, MAX_EVENTS_SCANNED)
            page = await relays.requests(tx, run, without, since, end, PAGE)
        until = end if len(page) < PAGE else page[-1].xid + 1  # whole transactions only
        waits, done = await self._relay(cell, [one for one in page if one.shard in kept and one.xid >= kept[one.shard]])
        if done:
            moved = {one.shard: waits.get(one.shard, until) for one in done}
            async with cell.tx() as tx:
                await relays.move(tx, moved)
        progress.move(ours, until, waits, is_all=until >= horizon)
        progress.unwritten += len(done) if end >= horizon else MAX_EVENTS_SCANNED
        return len(done) or int(until < horizon)

    async def _write_places(self, cell: CellProtocol) -> None:
        """Write all positions now and then, also of quiet shards, so that a new holder need not begin at the start."""
        progress = self._progress[cell.name]
        if progress.unwritten >= EVENTS_BETWEEN_PLACES:
            async with cell.tx() as tx:
                await relays.move(tx, progress.reached)
            progress.unwritten = 0

    async def _relay(
        self, cell: CellProtocol, page: list[CompensationRow]
    ) -> tuple[dict[int, int], list[CompensationRow]]:
        """Do each request in turn. A shard whose request cannot be done now waits there; the others go on."""
        waits: dict[int, int] = {}
        done = []
        for one in page:
            if one.shard in waits:
                continue
            try:
                await self._make(cell, one)
            except Exception as error:
                refusal = refusal_of(error)
                if refusal is not None and is_final(refusal):
                    await self._refuse(cell, one, refusal)
                else:
                    self._postpone(one, refusal or error)
                    waits[one.shard] = one.xid
                    continue
            done.append(one)
        return waits, done

    async def _make(self, cell: CellProtocol, one: CompensationRow) -> None:
        ctx = await compensations.caller(self.store, cell, one.tenant_id)
        await compensations.create_task(ctx, one.instance_id, one.at, one.body)

    async def _refuse(self, cell: CellProtocol, one: CompensationRow, error: HoraeError) -> None:
        """Log and record a request that can never be done."""
        log.error("relay.refused", instance=one.instance_id, code=error.code, reason=str(error)[:500])
        count("relay.refused", 1)
        row = outbox.OutboxRow(one.shard, one.tenant_id, one.job_id, one.instance_id, {**one.body, "code": error.code})
        async with cell.tx() as tx:
            await relays.move(tx, {one.shard: one.xid})  # carries the fence, and writes the position
            await outbox.append_many(tx, Event.COMPENSATION_REFUSED, [row])

    def _postpone(self, one: CompensationRow, error: Exception) -> None:
        log.warning("relay.waiting", instance=one.instance_id, reason=str(error)[:500])
        count("relay.waiting", 1)
