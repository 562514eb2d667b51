"""How much of the machine others leave to us, second by second.

Whoever shares the host takes a part of this machine away and gives it back, up to half of it within minutes. A rate
that was measured while nothing was stolen says nothing about a minute in which half was. So a thread reads four times a
second what the kernel counts as stolen.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

SAMPLE_INTERVAL_S: Final = 0.25
LEAST_LEFT: Final = 0.01
"""What is assumed to be left where all of the machine was stolen, as others divide by it."""


class Sample(NamedTuple):
    """The part of the machine that was not stolen before a moment."""

    at: float
    left: float


class StealGauge:
    """Samples of what others left of this machine."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []

    def left(self, begin: float, end: float) -> float:
        """The part of the machine that was not stolen between two moments; all of it where nothing was sampled."""
        parts = [one.left for one in self.samples if begin <= one.at < end]
        return max(LEAST_LEFT, sum(parts) / len(parts)) if parts else 1.0

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
            self.samples.append(Sample(time.time(), left))
            last = now


def _ticks() -> tuple[int, int]:
    """All ticks of all processors so far, and those that were stolen."""
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(fields), fields[7]
