"""Notices what makes the fires of a node late: a loop that stands still, cold definitions, a target with most slots."""

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from typing import Final
from urllib.parse import urlsplit

from horae.domain.health.delay_causes import NodeStrain
from horae.domain.targets.targets import PUSHED
from horae.engine.admission.target import DueCall
from horae.engine.cell_runner import CellRunner
from horae.runtime.clock import boottime

MIN_LAG_S: Final = 0.1
"""Seconds by which a round of the loop is late before it counts: shorter waits are normal under load."""
BUSY_SHARE: Final = 0.5
"""The part of the usable slots from which on targets are counted."""
CALLS_LOOKED_AT: Final = 2000


class CollectionTime:
    """Adds up how long garbage collections take, while it is started."""

    def __init__(self, ticks: Callable[[], float] = boottime) -> None:
        self.seconds = 0.0
        self._ticks = ticks
        self._began = 0.0

    def start(self) -> None:
        """Begin to listen."""
        gc.callbacks.append(self._listen)

    def stop(self) -> None:
        """Stop listening."""
        if self._listen in gc.callbacks:
            gc.callbacks.remove(self._listen)

    def _listen(self, phase: str, _info: object) -> None:
        if phase == "start":
            self._began = self._ticks()
        else:
            self.seconds += self._ticks() - self._began


class StrainMeter:
    """Collects until it is asked. `pause_s`: the pause between two samples if the loop is free."""

    def __init__(self, node: str, runners: Mapping[str, CellRunner], pause_s: float) -> None:
        self._node = node
        self._runners = runners
        self._pause_s = pause_s
        self.collections = CollectionTime()
        self._sampled_at: float | None = None
        self._stalled_s = 0.0
        self._in_flight: set[DueCall] = set()
        self._slow: Counter[str] = Counter()
        self._looked_at = 0
        self._read: dict[str, int] = {}

    def sample(self, now: float, load: float) -> None:
        """Note how late this round is, and which targets keep slots if many are in use.

        A call that was in flight at the last sample, too, has kept its slot for at least that time: it is slow.
        """
        if self._sampled_at is not None and (lag := now - self._sampled_at - self._pause_s) > MIN_LAG_S:
            self._stalled_s += lag
        self._sampled_at = now
        before, self._in_flight = self._in_flight, set()
        if load >= BUSY_SHARE:
            in_flight = chain.from_iterable(runner.flights.in_flight for runner in self._runners.values())
            self._in_flight = set(islice(in_flight, CALLS_LOOKED_AT))
            self._looked_at += len(self._in_flight) if before else 0
            self._slow.update(_hosts(before & self._in_flight))

    def take(self) -> dict[str, NodeStrain]:
        """What was noticed since the last call, by cell."""
        slow, self._slow = self._slow, Counter()
        looked_at, self._looked_at = self._looked_at, 0
        stalled_ms, self._stalled_s = int(self._stalled_s * 1000), 0.0
        collected_ms, self.collections.seconds = int(self.collections.seconds * 1000), 0.0
        target = max(slow, key=slow.__getitem__, default=None)
        share = 0.0 if target is None else round(slow[target] / looked_at, 3)
        return {
            name: NodeStrain(
                node=self._node,
                stalled_ms=stalled_ms,
                collected_ms=collected_ms,
                definitions_read=self._count_read(name, runner.definitions.read),
                clock_offset_ms=int(runner.cell.clock.ahead.total_seconds() * 1000),
                target=target,
                target_share=share,
            )
            for name, runner in self._runners.items()
        }

    def _count_read(self, name: str, read: int) -> int:
        before, self._read[name] = self._read.get(name, 0), read
        return read - before


def _hosts(calls: Iterable[DueCall]) -> Iterable[str]:
    """The host of each call, with its port and without credentials."""
    for ready in calls:
        target = ready.job.definition.target
        if isinstance(target, PUSHED):
            yield urlsplit(target.url).netloc.rpartition("@")[2]
