"""Simulated time, and the callbacks that are due in it."""

import heapq
from collections.abc import Callable
from itertools import count
from typing import Any


class Alarm:
    """A callback that is due at a time. It can be cancelled."""

    __slots__ = ("args", "call")

    def __init__(self, call: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.call: Callable[..., object] | None = call
        self.args = args

    def cancel(self) -> None:
        """Do not call it."""
        self.call = None


class Kernel:
    """Calls what is due next and moves the time there. Callbacks of one moment run in the order of their requests."""

    def __init__(self, now: float) -> None:
        self.now = now
        self._alarms: list[tuple[float, int, Alarm]] = []
        self._order = count()

    def at(self, when: float, call: Callable[..., object], *args: Any) -> Alarm:
        """Call something at a time; a past time means now."""
        alarm = Alarm(call, args)
        heapq.heappush(self._alarms, (max(self.now, when), next(self._order), alarm))
        return alarm

    def after(self, seconds: float, call: Callable[..., object], *args: Any) -> Alarm:
        """Call something after some seconds."""
        return self.at(self.now + seconds, call, *args)

    def run_until(self, end: float) -> None:
        """Run everything that is due before this time."""
        alarms, pop = self._alarms, heapq.heappop
        while alarms and alarms[0][0] < end:
            self.now, _, alarm = pop(alarms)
            if alarm.call is not None:
                alarm.call(*alarm.args)
        self.now = end
