"""Nothing blocks the event loop: every test with a store is watched, by the CPU time of the loop's own thread.

CPU time needs no quiet machine. The bound is far above what anything should take, because some tests count executed
lines, which makes each of them ten times as slow.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from horae.runtime.stalls import Stall, StallMonitor

MOST_CPU_S = 5.0


@contextmanager
def unblocked(most_cpu_s: float = MOST_CPU_S) -> Iterator[None]:
    """Fails after the block where the loop was held for longer than that."""
    found: list[Stall] = []
    monitor = StallMonitor(most_cpu_s, found.append)
    monitor.start()
    try:
        yield
    finally:
        monitor.stop()
    held = [stall for stall in found if stall.cpu_seconds > most_cpu_s]
    assert not held, f"the loop was held for {held[0].cpu_seconds:.1f} s of CPU time:\n{held[0].stack}"
