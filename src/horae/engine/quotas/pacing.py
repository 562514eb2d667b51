"""Paces the calls that count against a rate: each leaves in a place of the present frame, and waits until there is one.

Between its admission and its departure a call is claimed. That takes milliseconds, or seconds if the database is slow.
So a call takes its place when it leaves, not when it is admitted: after a stall, calls that were admitted before leave
at the rate and not all at once. Places in frames that are over are lost.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from horae.domain.limits.limits import Key

TIMER_ROUNDING_S: Final = 0.0006
"""Seconds added to a delay, because the event loop rounds to whole milliseconds."""


class PacedCall(Protocol):
    """A call, with the keys of the rates in which it still needs a place."""

    paces: tuple[Key, ...]


class Places(Protocol):
    """The places that rates have in the present frame."""

    def leave(self, keys: Sequence[Key]) -> Key | None:
        """Take a place of each key; or take none, and return a key without a place."""
        ...

    def record_lead(self, keys: Sequence[Key], lead_s: float) -> None:
        """Record how long a call took from its admission until it was ready to leave."""
        ...

    def next_place_s(self, key: Key) -> float | None:
        """Seconds until a key may have a place, to leave or to be admitted; None: not before the next round."""
        ...


class Departure(NamedTuple):
    """A call that is ready to leave. `go` sends it, or gives it back if `left_s`, its remaining time, is zero."""

    call: PacedCall
    left_s: Callable[[], float]
    go: Callable[[], None]


class Pacer:
    """One per node. `readmit(key)` is called when calls that wait for admission may try again.

    Each call costs constant time, amortised: there is one queue per key, and one timer per key with a waiting call.
    """

    def __init__(self, places: Places, readmit: Callable[[Key], None]) -> None:
        self._places = places
        self._readmit = readmit
        self._queues: dict[Key, deque[Departure]] = {}
        self._timers: dict[Key, asyncio.TimerHandle] = {}
        self._closed = False

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def may_leave(self, call: PacedCall, lead_s: float) -> bool:
        """Whether a call may leave at once; if so, its places are taken. `lead_s` is the time since its admission."""
        self._places.record_lead(call.paces, lead_s)
        if (self._queues and self._queued_before(call) is not None) or self._places.leave(call.paces) is not None:
            return False
        call.paces = ()
        return True

    def leave(self, call: PacedCall, left_s: Callable[[], float], go: Callable[[], None]) -> None:
        """Let a call leave as soon as its rates have a place for it, behind earlier calls.

        If its time runs out, `go` is called without a place, and gives the call back.
        """
        departure = Departure(call, left_s, go)
        key = self._queued_before(call) or self._try(departure)
        if key is not None:
            self._wait(key, departure)

    def plan(self, key: Key) -> None:
        """Plan a look at a key for its next place. Cheap if a look is planned already."""
        if key in self._timers or self._closed:
            return
        delays = [queue[0].left_s()] if (queue := self._queues.get(key)) else []
        if (next_s := self._places.next_place_s(key)) is not None:
            delays.append(next_s)
        if delays:
            delay_s = max(0.0, min(delays)) + TIMER_ROUNDING_S
            self._timers[key] = asyncio.get_running_loop().call_later(delay_s, self._wake, key)

    def on_grant(self, key: Key) -> None:
        """Look at a key now: a round has granted something."""
        if (timer := self._timers.pop(key, None)) is not None:
            timer.cancel()
        self._look(key)

    def close(self) -> None:
        """Drop all waiting calls and timers."""
        self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._queues.clear()

    def _wake(self, key: Key) -> None:
        del self._timers[key]
        self._look(key)

    def _look(self, key: Key) -> None:
        """Let waiting calls leave as far as there are places, then let calls that wait for admission try again.

        A call that also lacks a place of another key moves to the queue of that key.
        """
        queue = self._queues.get(key)
        while queue:
            departure = queue[0]
            if departure.left_s() > 0:
                missing = self._try(departure)
                if missing == key:
                    break
                queue.popleft()
                if missing is not None:
                    self._wait(missing, departure)
            else:
                queue.popleft()
                departure.go()
        if queue is not None and not queue:
            self._queues.pop(key, None)
        self._readmit(key)
        if queue:
            self.plan(key)

    def _queued_before(self, call: PacedCall) -> Key | None:
        """The first key of a call in whose queue other calls wait."""
        return next((key for key in call.paces if key in self._queues), None)

    def _try(self, departure: Departure) -> Key | None:
        """Let a call leave if all its keys have a place; otherwise return a key without one."""
        missing = self._places.leave(departure.call.paces)
        if missing is None:
            departure.call.paces = ()
            departure.go()
        return missing

    def _wait(self, key: Key, departure: Departure) -> None:
        self._queues.setdefault(key, deque()).append(departure)
        self.plan(key)
