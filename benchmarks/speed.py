"""How fast the machine is and how much of it others leave to us, second by second.

Whoever shares the host slows this machine down by a third within minutes, and takes up to half of it away. A rate that
was measured in a fast minute says nothing about a slow one. So a thread does the same small piece of work every quarter
of a second and notes what it cost in CPU time, and what the kernel counts as stolen meanwhile.
"""

import threading
import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

PIECES: Final = 4000
"""Steps of the piece of work: one to two milliseconds, less than a hundredth of one core."""
SAMPLE_INTERVAL_S: Final = 0.25
LEAST_LEFT: Final = 0.01
"""What is assumed to be left where all of the machine was stolen, as others divide by it."""


class Sample(NamedTuple):
    """CPU seconds of the piece of work at a moment, and the part of the time before it that was not stolen."""

    at: float
    cost_s: float
    left: float


class SpeedGauge:
    """Samples of this machine. A speed is work per second: only the ratio of two of them means something."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []

    def speed(self, begin: float, end: float) -> float:
        """The median speed between two moments, from at least the nearest three samples."""
        moments = [one.at for one in self.samples]
        first, last = bisect_left(moments, begin), bisect_left(moments, end)
        near = self.samples[max(0, min(first, last - 3)) : max(last, first + 3)] or self.samples[-3:]
        return median(one.left / one.cost_s for one in near) if near else 1.0

    def left(self, begin: float, end: float) -> float:
        """The part of the machine that was not stolen between two moments; all of it where nothing was sampled."""
        parts = [one.left for one in self.samples if begin <= one.at < end]
        return sum(parts) / len(parts) if parts else 1.0

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Sample until the end of the block."""
        over = threading.Event()
        thread = threading.Thread(target=self._sample, args=(over,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _sample(self, over: threading.Event) -> None:
        last = _ticks()
        while not over.wait(SAMPLE_INTERVAL_S):
            now = _ticks()
            all_ticks = now[0] - last[0]
            left = 1 - (now[1] - last[1]) / all_ticks if all_ticks else 1.0
            self.samples.append(Sample(time.time(), _cost_s(), max(left, LEAST_LEFT)))
            last = now


def _cost_s() -> float:
    """CPU seconds of this thread for one piece of work: numbers, objects and memory, as a node has them."""
    began = time.thread_time()
    seen: dict[str, list[int]] = {}
    for number in range(PIECES):
        seen.setdefault(f"key-{number % 1000}", []).append(number)
    return max(time.thread_time() - began, 1e-6)


def _ticks() -> tuple[int, int]:
    """All ticks of all processors so far, and those that were stolen."""
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(fields), fields[7]
