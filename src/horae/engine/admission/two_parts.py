"""A queue in two parts: calls on time, and overdue calls behind them."""

from collections import deque
from collections.abc import Container
from datetime import datetime
from typing import Final, Protocol, TypeVar
from uuid import UUID

from horae.domain.limits.shares import OVERDUE_TURN
from horae.engine.admission.waiting import QueuedCall, WaitingQueue

MOVED_AT_ONCE: Final = 64
"""Calls that have become overdue, put behind the others whenever one comes: all at once would stop the loop."""


class PunctualCall(QueuedCall, Protocol):
    """What a queue in two parts uses of a call."""

    is_overdue: bool


Call = TypeVar("Call", bound=PunctualCall)


class TwoPartQueue(WaitingQueue[Call]):
    """Overdue calls wait behind those on time and get every eighth turn; `overdue` counts them.

    These are the instances that were overdue when they came, as after an outage, and those that an open breaker holds
    back. So what is due now is on time when a target is back, and what was missed is made up for beside it.
    """

    __slots__ = ("_behind", "_since_overdue", "overdue")

    def __init__(self) -> None:
        super().__init__()
        self.overdue = 0
        self._behind: deque[Call] = deque()
        self._since_overdue = 0

    def add_overdue(self, ready: Call, now: float) -> None:
        """Add a call behind those that are on time."""
        self.add(ready, now)
        self._put_behind(self._entries.pop())

    def put_overdue_behind(self, due_before: datetime) -> None:
        """Put instances that have become overdue behind the calls on time: each once, and few at a time.

        An unrecorded fire stays: it is about to be recorded, and comes back as an instance.
        """
        entries = self._entries
        for _ in range(MOVED_AT_ONCE):
            if not self._drop_stale(entries) or entries[0].timer.fired is not None:
                return
            if entries[0].timer.at >= due_before:
                return
            self._put_behind(entries.popleft())

    def first(self) -> Call:
        """The next call, which stays in the queue. The queue must not be empty."""
        if self._behind and self._is_overdue_next():
            return self._behind[0]
        while self._entries[0].queue is not self:
            self._entries.popleft()
        return self._entries[0]

    def pop(self, now: float) -> Call:
        """Remove and return the next call. The queue must not be empty."""
        ready = self.first()
        if not ready.is_overdue:
            self._since_overdue += 1
            self._entries.popleft()
        else:
            self._since_overdue = 0
            self._behind.popleft()
            self.overdue -= 1
        self._leave(ready, now)
        return ready

    def first_held_s(self, now: float) -> float:
        """Seconds for which gates have held the call that came first. The queue must not be empty."""
        ready = self._behind[0] if self._behind and self._drop_stale(self._behind) else self.first()
        return ready.held_ms / 1000 + self._held_until(now) - ready.entered_at_s

    def pop_late(self, now: float, most: int, wall: float) -> list[Call]:
        """Remove and return unrecorded fires that are late by more than the patience."""
        found = super().pop_late(now, most, wall)
        self.overdue -= sum(ready.is_overdue for ready in found)
        return found

    def drop_first(self, gone: Container[UUID], now: float) -> list[Call]:
        """Remove and return the calls at the front of both parts whose instances are gone."""
        found = super().drop_first(gone, now)
        self.overdue -= sum(ready.is_overdue for ready in found)
        return found

    def _parts(self) -> tuple[deque[Call], ...]:
        return (self._behind, self._entries)

    def _is_overdue_next(self) -> bool:
        is_its_turn = self._since_overdue >= OVERDUE_TURN - 1 or len(self) == self.overdue
        return is_its_turn and self._drop_stale(self._behind)

    def _put_behind(self, ready: Call) -> None:
        ready.is_overdue = True
        self.overdue += 1
        self._behind.append(ready)
