"""Fires of a job that may not run beside each other: each is decided by what of the job lives, in its own transaction.

The cursor is locked first, then what lives. An end that comes meanwhile waits for the lock and then sees what was
decided, so a fire that waits is released by the end it waits for. Should one ever wait for nothing, the next fire of
its job finds and releases it.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import assert_never
from uuid import UUID

from horae.domain.lifecycle import State
from horae.domain.outcomes import SkipReason
from horae.domain.schedule import Fire as Fires
from horae.domain.schedule import OnMisfire
from horae.domain.schedule import Skip as Skips
from horae.domain.schedule.advance import LATE
from horae.domain.schedule.overlap import Way, decide
from horae.domain.targets import PUSHED
from horae.domain.timers import Timer
from horae.engine.admission.ready import Ready
from horae.engine.births import fire_row
from horae.runtime import chance
from horae.store import cursors, instances
from horae.store.cursors import Fire, skip_row
from horae.store.tx import Tx


class Exclusive:
    """One job's fires in one transaction. With a slot in hand the first that may run now is born RUNNING."""

    def __init__(self, tx: Tx, ready: Ready, owner: UUID, *, slot: bool) -> None:
        self.tx = tx
        self.ready = ready
        self.owner = owner
        self.born: list[Fire] = []
        self.freed: list[Timer] = []
        self.fired = 0
        self._living: dict[UUID, State] = {}
        self._slot = slot and isinstance(ready.job.definition.target, PUSHED)

    async def begin(self, timer: Timer) -> bool:
        """Lock the cursor where it stands, and what lives; False when someone else was faster."""
        if await cursors.lock(self.tx, timer) is None:
            return False
        self._living = await instances.living(self.tx, timer.shard, timer.id)
        if self._living and set(self._living.values()) == {State.BLOCKED}:
            self.freed = await instances.release(self.tx, [(timer.shard, id_) for id_ in self._living])
            self._living = dict.fromkeys(self._living, State.INIT)
        return True

    async def fire(self, verdict: Fires, wake: datetime | None, at: Timer) -> bool:
        """Let one fire run, wait, or be skipped; False when the cursor has moved."""
        if self._paced(verdict):
            return await self._birth(verdict, wake, State.INIT)
        running = sum(state == State.RUNNING for state in self._living.values())
        way = decide(self.ready.job.definition.policies.overlap, running, len(self._living) - running)
        match way:
            case Way.RUN:
                return await self._run(verdict, wake)
            case Way.REPLACE:
                await self._displace(list(self._living))
                return await self._run(verdict, wake)
            case Way.WAIT:
                return await self._birth(verdict, wake, State.BLOCKED)
            case Way.SKIP:
                skip = Skips(verdict.fire_time, verdict.fire_time, 1, SkipReason.OVERLAP)
                row = skip_row(at, skip, wake, self.tx.now)
                return bool(await cursors.skip(self.tx, self.ready.timer.priority, [row]))
            case other:
                assert_never(other)

    def _paced(self, verdict: Fires) -> bool:
        """Made up for at the pace that its job asks for: they are kept apart by their times."""
        misfire = self.ready.job.definition.policies.misfire
        return misfire.policy is OnMisfire.ALL and verdict.fire_time < self.tx.now - LATE

    async def _run(self, verdict: Fires, wake: datetime | None) -> bool:
        called = self._slot and verdict.due_at <= self.tx.now
        self._slot = self._slot and not called
        return await self._birth(verdict, wake, State.RUNNING if called else State.INIT)

    async def _birth(self, verdict: Fires, wake: datetime | None, state: State) -> bool:
        token = chance.token() if state == State.RUNNING else None
        fire = fire_row(self.ready, verdict, wake, self.tx.now, token)
        if not await cursors.fire_exclusive(self.tx, self.ready.timer.priority, fire, self.owner, state):
            return False
        self.fired += 1
        self._living[fire.id] = state
        if state != State.BLOCKED:
            self.born.append(fire)
        return True

    async def _displace(self, ids: Iterable[UUID]) -> None:
        """End what lives; a fire of this very transaction may be among it."""
        displaced = set(ids)
        await instances.displace(self.tx, self.ready.timer.shard, displaced)
        self._slot = self._slot or any(fire.id in displaced and fire.token is not None for fire in self.born)
        self.born = [fire for fire in self.born if fire.id not in displaced]
        self.freed = [timer for timer in self.freed if timer.id not in displaced]
        self._living = {}
