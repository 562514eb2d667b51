"""The book of closed gates: full dispatchers, targets that hold calls back, and when each is looked at again.

Every look visits a bounded number of places, and continues where the last one stopped.
"""

import heapq
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final

from horae.engine.admission.fair import Fair
from horae.engine.admission.target import CallDispatcher, Target
from horae.runtime.telemetry import log

MAX_CALL_S: Final = 180.0
"""Seconds after which an ordinary call must have ended: no slot lasts longer."""
MAX_LONG_CALL_S: Final = 2000.0
"""The same for long calls."""
TARGETS_VISITED_AT_ONCE: Final = 256
DISPATCHERS_CHECKED_AT_ONCE: Final = 16


class ClosedGates:
    """What is closed now. `reopen` lets the flows of a target take turns again, as far as the target has room.

    `dispatchers` are the full ones, `targets` those that hold flows back; whoever closes one appends it.
    """

    def __init__(self, reopen: Callable[[Target, float], None], reopen_all: Callable[[Target, float], None]) -> None:
        """`reopen_all` goes through all flows of a target, even when its room is used up."""
        self._reopen = reopen
        self._reopen_all = reopen_all
        self.dispatchers: deque[CallDispatcher] = deque()
        self.targets: deque[Target] = deque()
        self._later: list[tuple[float, int, Target]] = []
        self._order = count()

    def ask_dispatchers(self, fair: Fair) -> None:
        """Ask some of the full dispatchers whether they have room again."""
        for _ in range(min(len(self.dispatchers), DISPATCHERS_CHECKED_AT_ONCE)):
            dispatcher = self.dispatchers.popleft()
            if dispatcher.has_room:
                fair.reopen(dispatcher)
            else:
                self.dispatchers.append(dispatcher)

    def plan(self, target: Target, at: float) -> None:
        """Plan a look at a target's flows, if no earlier one is planned."""
        if target.wakes_at is None or at < target.wakes_at:
            target.wakes_at = at
            heapq.heappush(self._later, (at, next(self._order), target))

    def wake(self, now: float) -> None:
        """Look at the targets whose planned time has come."""
        while self._later and self._later[0][0] <= now:
            at, _, target = heapq.heappop(self._later)
            if target.wakes_at == at:
                target.wakes_at = None
                self._reopen(target, now)

    def wait_s(self, now: float) -> float | None:
        """Seconds until the next planned look; None if none is planned."""
        return max(0.0, self._later[0][0] - now) if self._later else None

    def visit(self, now: float) -> None:
        """Look at some targets in turn, because a wake-up may have been lost.

        A target whose calls should have ended long ago counts no call in flight any more.
        """
        for _ in range(min(len(self.targets), TARGETS_VISITED_AT_ONCE)):
            target = self.targets.popleft()
            target.visited = bool(target.closed)
            if not target.visited:
                continue
            self.targets.append(target)
            longest_s = MAX_CALL_S if target.long is None else MAX_LONG_CALL_S
            if target.in_flight and now - target.admitted_at > longest_s:
                log.error("target.no_answer", calls=target.in_flight, waiting=target.parked)
                target.forget_calls()
            self._reopen_all(target, now)

    def clear(self) -> None:
        """Forget everything."""
        self.dispatchers.clear()
        self.targets.clear()
        self._later.clear()
