"""Calls that count against a rate leave here, each in a place of the present frame; until there is one they wait.

A call is admitted some time before it can leave: its row is claimed meanwhile. That takes milliseconds, or seconds
where the database is slow. So a place is taken when the call leaves and not when it is admitted: what was admitted
before a stall leaves after it at the rate, and places of frames that are over are lost.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from horae.domain.limits import Key

ROUNDING_S: Final = 0.0006
"""The loop counts whole milliseconds."""


class Paced(Protocol):
    """A call with the keys of the rates that it has yet to take a place of."""

    paces: tuple[Key, ...]


class Places(Protocol):
    """Which rates have a place in the present frame."""

    def leave(self, keys: Sequence[Key]) -> Key | None:
        """Take a place of each key, or none and say which key has none."""
        ...

    def reached(self, keys: Sequence[Key], lead_s: float) -> None:
        """A call took so long from its admission until it could leave."""
        ...

    def next_place_s(self, key: Key) -> float | None:
        """Seconds until a key may have a place, for one to leave or for one to be admitted; None: after a round."""
        ...


class Departure(NamedTuple):
    """A call that is ready to leave: `go` sends it, or hands it back where no time is left."""

    call: Paced
    left_s: Callable[[], float]
    go: Callable[[], None]


class Pacer:
    """One per node. `again(key)` is called when those who wait to be admitted may ask again.

    Each call costs constant time, amortised: a queue for each key, one timer for each key that someone waits for.
    """

    def __init__(self, places: Places, again: Callable[[Key], None]) -> None:
        self._places = places
        self._again = again
        self._queues: dict[Key, deque[Departure]] = {}
        self._timers: dict[Key, asyncio.TimerHandle] = {}
        self._closed = False

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def may_leave(self, call: Paced, lead_s: float) -> bool:
        """Whether a call may leave at once: its places are taken then. `lead_s` is the time since its admission."""
        self._places.reached(call.paces, lead_s)
        if (self._queues and self._queued_before(call) is not None) or self._places.leave(call.paces) is not None:
            return False
        call.paces = ()
        return True

    def leave(self, call: Paced, left_s: Callable[[], float], go: Callable[[], None]) -> None:
        """Let a call go as soon as its rates have a place for it, behind those that came before.

        Where no time is left it goes without one.
        """
        departure = Departure(call, left_s, go)
        key = self._queued_before(call) or self._try(departure)
        if key is not None:
            self._wait(key, departure)

    def plan(self, key: Key) -> None:
        """Look at a key when its next frame comes. Cheap where that is planned already."""
        if key in self._timers or self._closed:
            return
        delays = [queue[0].left_s()] if (queue := self._queues.get(key)) else []
        if (next_s := self._places.next_place_s(key)) is not None:
            delays.append(next_s)
        if delays:
            delay_s = max(0.0, min(delays)) + ROUNDING_S
            self._timers[key] = asyncio.get_running_loop().call_later(delay_s, self._wake, key)

    def granted(self, key: Key) -> None:
        """A round brought something for a key."""
        if (timer := self._timers.pop(key, None)) is not None:
            timer.cancel()
        self._look(key)

    def close(self) -> None:
        """Nothing leaves any more."""
        self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._queues.clear()

    def _wake(self, key: Key) -> None:
        del self._timers[key]
        self._look(key)

    def _look(self, key: Key) -> None:
        """Let go of those for whom there is a place now, then of those who wait to be admitted."""
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
        self._again(key)
        if queue:
            self.plan(key)

    def _queued_before(self, call: Paced) -> Key | None:
        """A key of a call for which others wait."""
        return next((key for key in call.paces if key in self._queues), None)

    def _try(self, departure: Departure) -> Key | None:
        """Let it go if there is a place for it; else the key that has none."""
        missing = self._places.leave(departure.call.paces)
        if missing is None:
            departure.call.paces = ()
            departure.go()
        return missing

    def _wait(self, key: Key, departure: Departure) -> None:
        self._queues.setdefault(key, deque()).append(departure)
        self.plan(key)
