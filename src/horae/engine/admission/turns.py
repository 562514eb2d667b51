"""Counts the calls of each tenant and class that wait only for their turn."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from horae.engine.admission.target import Flow, Turns

ENOUGH: Final = 1000
"""Calls that are counted together from which on no more are offered: several batches."""
FEW: Final = 500


class TurnCounts:
    """The counts, updated when flows start or stop taking turns. Calls that a gate holds back do not count."""

    def __init__(self) -> None:
        self._counts: defaultdict[Turns, int] = defaultdict(int)
        self._when_few: dict[Turns, Callable[[], None]] = {}

    def add(self, turns: Turns, calls: int) -> None:
        """Add to a count of calls that wait for their turn; `calls` may be negative."""
        count = self._counts[turns] + calls
        if count:
            self._counts[turns] = count
        else:
            del self._counts[turns]
        if count <= FEW and self._when_few and (tell := self._when_few.pop(turns, None)) is not None:
            tell()

    def add_flow(self, flow: Flow) -> None:
        """Count all calls of a flow: it takes turns now."""
        self.add(flow.turns[False], len(flow) - flow.overdue)
        if flow.overdue:
            self.add(flow.turns[True], flow.overdue)

    def remove_flow(self, flow: Flow) -> None:
        """Count no call of a flow any more."""
        self.add(flow.turns[False], flow.overdue - len(flow))
        if flow.overdue:
            self.add(flow.turns[True], -flow.overdue)

    def are_enough(self, turns: Turns, when_few: Callable[[], None]) -> bool:
        """Whether enough of these calls wait for their turn; if so, `when_few` is called when few of them are left."""
        enough = self._counts.get(turns, 0) >= ENOUGH
        if enough:
            self._when_few[turns] = when_few
        return enough

    def waiting(self, most: int) -> Iterator[tuple[Turns, int]]:
        """Some counts of calls that wait for their turn."""
        return islice(self._counts.items(), most)

    def clear(self) -> None:
        """Forget all counts and callbacks."""
        self._counts.clear()
        self._when_few.clear()
