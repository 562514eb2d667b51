"""A node's slices of all shared limits: `take` and `give` work in memory, and a duty renews the slices in use.

Each key has one home cell. If that cell cannot be reached, the last slice stays valid until it runs out: the calls of a
rate with their frames, permits after `PERMIT_LIFE`. Then nothing is granted. `docs/limits.md` says what this means.
"""

import asyncio
import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import count, groupby, zip_longest
from typing import Final
from uuid import UUID

from horae.domain.errors import ShardClosed
from horae.domain.limits.limits import Ask, Key, Limit, LimitGrant
from horae.engine.quotas.pacing import Pacer
from horae.engine.quotas.renewer import QuotaRenewer
from horae.engine.quotas.slices import MANY, ROUND_INTERVAL_S, Slice
from horae.runtime.clock import boottime
from horae.store.store import Store

PERMIT_LIFE: Final = timedelta(seconds=5)
"""How long the permits of a node count in the database after its last round."""
MAX_KEYS_PER_ROUND: Final = 200
"""A round decides about all its keys without a pause while their rows are locked: about 30 ms."""
UNUSED_LIFE_SHARE: Final = 0.2
"""The part of `PERMIT_LIFE` by which a node stops using its permits before other nodes may count them as free."""


class Quotas:
    """This node's slices of all shared limits. `granted(key)` is called when refused calls may try again.

    A taken call that counts against a rate leaves through the `pacer`. `grants` counts the permits and calls that the
    rounds of each cell have granted.
    """

    def __init__(
        self,
        store: Store,
        incarnation: UUID,
        granted: Callable[[Key], None] = lambda _key: None,
        *,
        life: timedelta = PERMIT_LIFE,
    ) -> None:
        self._store = store
        self._incarnation = incarnation
        self.pacer = Pacer(self, granted)
        self.grants: Counter[str] = Counter({cell.name: 0 for cell in store.cells})
        self._life = life
        self._slices: dict[Key, Slice] = {}
        self._planned: list[tuple[float, int, Key]] = []
        self._order = count()
        self._rounds: dict[str, asyncio.Task[int]] = {}
        self._closing = False
        self._renewers = {cell.name: QuotaRenewer(cell, incarnation, life) for cell in store.cells}

    def __len__(self) -> int:
        return len(self._slices)

    def take(self, key: Key, limit: Limit) -> bool:
        """Whether one more call may go now; if so, it counts as running until `give`. Works in memory."""
        if limit.rate is None and limit.concurrency is None:
            return True
        kept = self._slices.get(key)
        if kept is None:
            life = self._life.total_seconds() * (1 - UNUSED_LIFE_SHARE)
            kept = self._slices[key] = Slice(limit, life, self._shift_s(key))
        tick = boottime()
        kept.note_limit(limit, tick)
        taken = kept.take(tick, rated=limit.rate is not None)
        if kept.planned_at is None or not taken:
            self._plan(key, kept, tick)
            if not taken and limit.rate is not None:
                self.pacer.plan(key)
        return taken

    def leave(self, keys: Sequence[Key]) -> Key | None:
        """Let a taken call leave in the present frame of every key; or return a key that has no place."""
        tick, slices = boottime(), self._slices
        if len(keys) > 1:
            for key in keys:
                if (kept := slices.get(key)) is not None and not kept.has_place(tick):
                    return key
        for key in keys:
            if (kept := slices.get(key)) is not None and not kept.leave(tick):
                return key
        return None

    def record_lead(self, keys: Sequence[Key], lead_s: float) -> None:
        """Record how long a taken call needed until it was ready to leave."""
        for key in keys:
            if (kept := self._slices.get(key)) is not None:
                kept.record_lead(lead_s)

    def next_place_s(self, key: Key) -> float | None:
        """Seconds until a call may have a place, to leave or to be admitted; None if no round has granted one."""
        kept = self._slices.get(key)
        return None if kept is None else kept.next_place_s(boottime())

    def give(self, key: Key) -> None:
        """Return the permit of a call that has ended."""
        if (kept := self._slices.get(key)) is not None:
            tick = boottime()
            kept.give(tick)
            self._plan(key, kept, tick)

    def undo(self, key: Key) -> None:
        """Return the permit and the place of a call that is not sent."""
        if (kept := self._slices.get(key)) is not None:
            tick = boottime()
            kept.undo(tick)
            self._plan(key, kept, tick)

    def room(self, key: Key) -> int:
        """How many calls could go now; a very large number if there is no slice of the limit."""
        kept = self._slices.get(key)
        return MANY if kept is None else kept.room(boottime())

    def wait(self, key: Key, many: int) -> None:
        """Record how many calls wait for a key. They wait in a queue and do not call `take` again and again."""
        if (kept := self._slices.get(key)) is not None:
            tick = boottime()
            kept.wait(many, tick)
            self._plan(key, kept, tick)
            if kept.limit.rate is not None:
                self.pacer.plan(key)

    async def once(self) -> int:
        """Renew the slices that need it, one round per cell; returns how many were renewed, 0 when idle.

        A round that takes long goes on in its own task, so that it does not delay the rounds of other cells.
        """
        wanting = sorted(filter(self._reachable, self._due(boottime())), key=self._home)
        for name, keys in groupby(wanting, self._home):
            self._begin_round(name, list(keys))
        under_way = set(self._rounds.values())
        if not under_way:
            return 0
        done, _ = await asyncio.wait(under_way, timeout=None if self._closing else ROUND_INTERVAL_S)
        return sum([task.result() for task in done])

    async def close(self) -> None:
        """Give back everything that is not in use, and close the connections."""
        self._closing = True
        self.pacer.close()
        if self._rounds:
            await asyncio.wait(set(self._rounds.values()))
        for key, kept in self._slices.items():
            kept.retire()
            kept.planned_at = None
            self._plan(key, kept, boottime())
        for renewer in self._renewers.values():
            renewer.open_at = 0.0
        await self.once()
        for renewer in self._renewers.values():
            await renewer.line.close()

    def _plan(self, key: Key, kept: Slice, tick: float, *, after: float = 0.0) -> None:
        """Plan a look at a slice for when a round may be needed, but not before `after`. The earliest plan counts."""
        at = kept.due_at(tick)
        if at is not None:
            at = max(at, after)
            if kept.planned_at is None or at < kept.planned_at:
                kept.planned_at = at
                heapq.heappush(self._planned, (at, next(self._order), key))

    def _due(self, tick: float) -> list[Key]:
        """The keys whose slices need a round now. Empty slices are forgotten."""
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
        """Whether the key's shard is open in a cell. While the shard moves, the slice is not renewed."""
        try:
            self._home(key)
        except ShardClosed:
            tick = boottime()
            self._plan(key, self._slices[key], tick, after=tick + ROUND_INTERVAL_S)
            return False
        return True

    def _home(self, key: Key) -> str:
        return self._store.cell(key.shard).name

    def _shift_s(self, key: Key) -> float:
        """Seconds from ticks to the clock of the key's home. If the shard is open nowhere, any cell's clock will do."""
        try:
            clock = self._store.cell(key.shard).clock
        except ShardClosed:
            clock = self._store.clock
        return clock.seconds() - boottime()

    def _begin_round(self, name: str, keys: Sequence[Key]) -> None:
        renewer, tick = self._renewers[name], boottime()
        open_at = tick + ROUND_INTERVAL_S if name in self._rounds else renewer.open_at
        if tick < open_at:
            for key in keys:
                self._plan(key, self._slices[key], tick, after=open_at)
            return
        now, later = in_turns(keys, len(keys) if self._closing else MAX_KEYS_PER_ROUND)
        for key in later:
            self._plan(key, self._slices[key], tick, after=tick + ROUND_INTERVAL_S)
        task = self._rounds[name] = asyncio.create_task(self._round(name, renewer, now))
        task.add_done_callback(lambda _task: self._rounds.pop(name))

    async def _round(self, cell: str, renewer: QuotaRenewer, keys: Sequence[Key]) -> int:
        sent = boottime()
        slices = {key: self._slices[key] for key in keys}
        asks = {key: kept.ask(sent) for key, kept in slices.items()}
        grants = await renewer.renew(asks, {key: kept.limit for key, kept in slices.items()})
        now = boottime()
        self.grants[cell] += sum(_granted(asks[key], grant) for key, grant in grants.items())
        for key, kept in slices.items():
            if self._slices.get(key) is not kept:
                continue  # this slice was forgotten meanwhile
            kept.shift_s = self._shift_s(key)
            new = (grant := grants.get(key)) is not None and kept.add_grant(asks[key], grant, sent, now)
            self._plan(key, kept, now)
            if kept.planned_at is None:
                del self._slices[key]
            elif new:
                self.pacer.on_grant(key)
        return len(grants)


def _granted(ask: Ask, grant: LimitGrant) -> int:
    return max(0, grant.held - ask.keep) + sum(grant.calls.values())


def in_turns(keys: Sequence[Key], most: int) -> tuple[list[Key], list[Key]]:
    """Split keys into at most `most`, one tenant after another, and the rest."""
    if len(keys) <= most:
        return list(keys), []
    of_tenants: dict[UUID, list[Key]] = {}
    for key in keys:
        of_tenants.setdefault(key.tenant_id, []).append(key)
    dealt = [key for turn in zip_longest(*of_tenants.values()) for key in turn if key is not None]
    return dealt[:most], dealt[most:]
