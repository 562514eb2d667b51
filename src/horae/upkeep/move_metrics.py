"""Metrics of shard moves: how many are at which step, how many have an error, and for how long shards were closed."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from prometheus_client.core import Metric

from horae.domain.moves.moves import ENDED, Move, MoveStep
from horae.runtime.metrics import Labels, MetricFacts, MetricKind

RUNNING: Final = MetricFacts(
    "horae_shard_moves_running",
    MetricKind.GAUGE,
    "Moves of shards out of the cell that have not ended, by step.",
    ("cell", "step"),
)
FAILING: Final = MetricFacts(
    "horae_shard_moves_failing",
    MetricKind.GAUGE,
    "Moves of shards out of the cell whose last try ended with an error; `horae shard status` shows it.",
    ("cell",),
)
PAUSE: Final = MetricFacts(
    "horae_shard_move_pause_seconds",
    MetricKind.HISTOGRAM,
    "How long shards were closed for moves out of the cell that this node has coordinated.",
    ("cell",),
)
MOVE_FAMILIES: Final = (RUNNING, FAILING, PAUSE)
RUNNING_STEPS: Final = tuple(step for step in MoveStep if step not in ENDED)
PAUSE_BOUNDS_S: Final = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class MoveMetrics:
    """What the mover of this process has seen: a source of metrics."""

    def __init__(self) -> None:
        self._unfinished: dict[str, Sequence[Move]] = {}
        self._pauses: dict[Labels, tuple[list[int], float]] = {}

    def see(self, cell: str, unfinished: Sequence[Move]) -> None:
        """Keep the moves out of a cell that have not ended."""
        self._unfinished[cell] = unfinished
        self._pauses.setdefault((cell,), ([0] * (len(PAUSE_BOUNDS_S) + 1), 0.0))

    def forget(self, cell: str) -> None:
        """Have no sample of a cell that does not answer."""
        self._unfinished.pop(cell, None)

    def count_pause(self, cell: str, seconds: float) -> None:
        """Count a shard that has left a cell after it was closed for some seconds."""
        buckets, total = self._pauses.get((cell,), ([0] * (len(PAUSE_BOUNDS_S) + 1), 0.0))
        buckets[bisect_left(PAUSE_BOUNDS_S, seconds)] += 1
        self._pauses[cell,] = (buckets, total + seconds)

    def collect(self) -> Iterator[Metric]:
        """Yields the families."""
        running: Counter[Labels] = Counter(
            {(cell, str(step)): 0 for cell in self._unfinished for step in RUNNING_STEPS}
        )
        running.update((cell, str(move.step)) for cell, own in self._unfinished.items() for move in own)
        yield RUNNING.samples(running)
        failing: dict[Labels, float] = {
            (cell,): sum(move.error is not None for move in own) for cell, own in self._unfinished.items()
        }
        yield FAILING.samples(failing)
        yield PAUSE.histograms(PAUSE_BOUNDS_S, self._pauses)
