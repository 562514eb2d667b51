"""Fires of a job that must not run in parallel: each is decided in a transaction, by the live instances of its job.

The cursor is locked first, then the live instances. An instance that ends meanwhile waits for the lock and then sees
the decision. So a blocked fire is released by the end of the instance it waits for. Should a fire ever be blocked by
nothing, the next fire of its job finds and releases it.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import assert_never
from uuid import UUID

from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules import FireVerdict as Fires
from horae.domain.schedules import OnMisfire
from horae.domain.schedules import SkipVerdict as Skips
from horae.domain.schedules.advance import ON_TIME_TOLERANCE
from horae.domain.schedules.overlap import Way, decide
from horae.domain.schedules.timers import Timer
from horae.domain.targets.targets import PUSHED
from horae.engine.admission.target import DueCall
from horae.engine.fire_parts import fire_row
from horae.runtime import randomness
from horae.store.instances import instances
from horae.store.schedules import cursors
from horae.store.schedules.cursors import FireRow, skip_row
from horae.store.tx import Tx


class Exclusive:
    """The fires of one job in one transaction. With a slot, the first fire that may run now is inserted as RUNNING.

    `inserted` are the inserted fires that are not blocked, `freed` the timers of blocked fires that were released,
    `skipped` the fires that do not run because of an overlap.
    """

    def __init__(self, tx: Tx, ready: DueCall, owner: UUID, *, slot: bool) -> None:
        self.tx = tx
        self.ready = ready
        self.owner = owner
        self.inserted: list[FireRow] = []
        self.freed: list[Timer] = []
        self.skipped: list[Fires] = []
        self.fired = 0
        self._live: dict[UUID, State] = {}
        self._slot = slot and isinstance(ready.job.definition.target, PUSHED)

    async def begin(self, timer: Timer) -> bool:
        """Lock the cursor at its time, and the live instances; False if the cursor has moved.

        If all live instances are blocked, nothing is left that could release them: release them now.
        """
        if await cursors.lock(self.tx, timer) is None:
            return False
        self._live = await instances.lock_live(self.tx, timer.shard, timer.id)
        if self._live and set(self._live.values()) == {State.BLOCKED}:
            self.freed = await instances.release(self.tx, [(timer.shard, id_) for id_ in self._live])
            self._live = dict.fromkeys(self._live, State.INIT)
        return True

    async def fire(self, verdict: Fires, wake: datetime | None, at: Timer) -> bool:
        """Decide one fire by the overlap policy: run, wait, or be skipped; False if the cursor has moved."""
        if self._is_paced(verdict):
            return await self._insert(verdict, wake, State.INIT)
        running = sum(state == State.RUNNING for state in self._live.values())
        way = decide(self.ready.job.definition.policies.overlap, running, len(self._live) - running)
        match way:
            case Way.RUN:
                return await self._run(verdict, wake)
            case Way.REPLACE:
                await self._displace(list(self._live))
                return await self._run(verdict, wake)
            case Way.WAIT:
                return await self._insert(verdict, wake, State.BLOCKED)
            case Way.SKIP:
                self.skipped.append(verdict)
                skip = Skips(verdict.fire_time, verdict.fire_time, 1, SkipReason.OVERLAP)
                row = skip_row(at, skip, wake, self.tx.now)
                return bool(await cursors.skip(self.tx, self.ready.timer.priority, [row]))
            case other:
                assert_never(other)

    def _is_paced(self, verdict: Fires) -> bool:
        """Whether a missed fire is caught up at the pace of its job: its due time keeps it apart from the others."""
        misfire = self.ready.job.definition.policies.misfire
        return misfire.policy is OnMisfire.ALL and verdict.fire_time < self.tx.now - ON_TIME_TOLERANCE

    async def _run(self, verdict: Fires, wake: datetime | None) -> bool:
        called = self._slot and verdict.due_at <= self.tx.now
        self._slot = self._slot and not called
        return await self._insert(verdict, wake, State.RUNNING if called else State.INIT)

    async def _insert(self, verdict: Fires, wake: datetime | None, state: State) -> bool:
        token = randomness.new_token() if state == State.RUNNING else None
        fire = fire_row(self.ready, verdict, wake, self.tx.now, token)
        if not await cursors.fire_exclusive(self.tx, self.ready.timer.priority, fire, self.owner, state):
            return False
        self.fired += 1
        self._live[fire.id] = state
        if state != State.BLOCKED:
            self.inserted.append(fire)
        return True

    async def _displace(self, ids: Iterable[UUID]) -> None:
        """Cancel live instances. A fire of this transaction may be among them: then its slot is free again."""
        displaced = set(ids)
        await instances.displace(self.tx, self.ready.timer.shard, displaced)
        self._slot = self._slot or any(fire.id in displaced and fire.token is not None for fire in self.inserted)
        self.inserted = [fire for fire in self.inserted if fire.id not in displaced]
        self.freed = [timer for timer in self.freed if timer.id not in displaced]
        self._live = {}
