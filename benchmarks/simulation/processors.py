"""Processors: cores that share their time equally among all threads that want to run."""

import heapq
from collections.abc import Callable
from itertools import count
from typing import Protocol

from benchmarks.simulation.kernel import Alarm, Kernel


class Processor(Protocol):
    """Something that does pieces of work. `busy_s` counts core-seconds."""

    busy_s: float

    def run(self, seconds: float, done: Callable[[], object]) -> None:
        """Do a piece of work of so many core-seconds, then call `done`."""
        ...


class OwnCore:
    """The core of a single thread: nobody else wants it."""

    def __init__(self, kernel: Kernel) -> None:
        self.busy_s = 0.0
        self._kernel = kernel

    def run(self, seconds: float, done: Callable[[], object]) -> None:
        """Do a piece of work."""
        self.busy_s += seconds
        self._kernel.after(seconds, done)


class SharedCores:
    """Some cores for any number of threads. More pieces of work than cores: all of them are slowed down alike.

    All pieces progress at the same speed, so one number is enough for all: the work that a piece would have got that
    was there from the beginning. A piece ends when this number has grown by its own length.
    """

    def __init__(self, kernel: Kernel, cores: int) -> None:
        self.busy_s = 0.0
        self._kernel = kernel
        self._cores = cores
        self._pieces: list[tuple[float, int, Callable[[], object]]] = []
        self._order = count()
        self._progress_s = 0.0
        self._counted_at = kernel.now
        self._alarm: Alarm | None = None

    def run(self, seconds: float, done: Callable[[], object]) -> None:
        """Do a piece of work."""
        self._count()
        heapq.heappush(self._pieces, (self._progress_s + seconds, next(self._order), done))
        self._plan()

    def _count(self) -> None:
        """Count the work that was done since the last change."""
        running, passed_s = len(self._pieces), self._kernel.now - self._counted_at
        self._counted_at = self._kernel.now
        if running:
            self._progress_s += passed_s * min(1.0, self._cores / running)
            self.busy_s += passed_s * min(running, self._cores)

    def _plan(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        left_s = max(0.0, self._pieces[0][0] - self._progress_s)
        self._alarm = self._kernel.after(left_s * max(1.0, len(self._pieces) / self._cores), self._end_first)

    def _end_first(self) -> None:
        self._alarm = None
        self._count()
        end_s, _, done = heapq.heappop(self._pieces)
        self._progress_s = max(self._progress_s, end_s)  # rounding must not leave it a little behind
        if self._pieces:
            self._plan()
        done()
