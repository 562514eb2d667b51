"""Retries of long work that wait behind those of short work, because a measure asks for it.

A retry that fails while the measure is in force is due later (`domain.measures.retries`). Retries that waited before
are not written again: it would be most work when there is least room for it. Instead they are held back here when they
come due, until the measure has been in force for as long as their bucket waits.

The work is bounded: a retry is held once, and at most `MAX_HELD_RETRIES` are. Those beyond stay in their rows, which
the feeder reads again within a minute.
"""

import heapq
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import count
from typing import Final
from uuid import UUID

from horae.domain.instances.instances import Lane
from horae.domain.measures.in_force import MeasuresInForce
from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureAction
from horae.domain.measures.retries import bucket_wait
from horae.domain.schedules.timers import Timer

MAX_HELD_RETRIES: Final = 40_000
"""Less than the half of a deep group (`agenda.DEEP`): otherwise the feeder would not read on behind them."""


class LongRetries:
    """The retries of one cell that are held back. `duration_of` is how long runs of a job take, `forget` drops a timer.

    While no such measure is in force, `hold_back` is one test.
    """

    def __init__(self, duration_of: Callable[[UUID], float | None], forget: Callable[[Timer], None]) -> None:
        self._duration_of = duration_of
        self._forget = forget
        self._opened: dict[UUID, datetime] = {}
        self._held: list[tuple[datetime, int, Timer]] = []
        self._order = count()

    def __len__(self) -> int:
        return len(self._held)

    def follow(self, measures: MeasuresInForce, now: datetime) -> None:
        """Note since when which scopes put short work first."""
        before = self._opened
        self._opened = {
            state.tenant_id: state.since or before.get(state.tenant_id, now)
            for state, actions in measures.measures
            if MeasureAction.SHORT_RETRIES_FIRST in actions
        }

    def hold_back(self, timers: Sequence[Timer], now: datetime) -> Sequence[Timer]:
        """Return the timers that may go now. The others are held back, or forgotten if very many are."""
        if not self._opened:
            return timers
        passed = []
        for timer in timers:
            until = self._held_until(timer)
            if until is None or until <= now:
                passed.append(timer)
            elif len(self._held) < MAX_HELD_RETRIES:
                heapq.heappush(self._held, (until, next(self._order), timer))
            else:
                self._forget(timer)
        return passed

    def pop_due(self, now: datetime, most: int) -> list[Timer]:
        """Take retries that need not wait any more, at most so many; all of them once the measure has ended."""
        due: list[Timer] = []
        while len(due) < most and self._held and not (self._opened and self._held[0][0] > now):
            due.append(heapq.heappop(self._held)[2])
        return due

    def wait_s(self, now: datetime) -> float | None:
        """Seconds until the next retry may go; None if none is held back."""
        if not self._held:
            return None
        return max(0.0, (self._held[0][0] - now).total_seconds()) if self._opened else 0.0

    def _held_until(self, timer: Timer) -> datetime | None:
        if timer.lane != Lane.RETRY:
            return None
        opened = [at for scope in (PLATFORM_SCOPE, timer.tenant_id) if (at := self._opened.get(scope)) is not None]
        return max(opened) + bucket_wait(self._duration_of(timer.job_id) or 0) if opened else None
