"""Counts the calls of each tenant and class that wait only for their turn."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final
from uuid import UUID

from horae.domain.limits.shares import Class
from horae.engine.admission.target import CallDispatcher, Flow

ENOUGH: Final = 1000
"""Waiting calls of one tenant, class and dispatcher from which on no more are offered: several batches."""
FEW: Final = 500


class TurnCounts:
    """The counts, updated when flows start or stop taking turns. Calls that a gate holds back do not count."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[UUID, Class, CallDispatcher], int] = defaultdict(int)
        self._when_few: dict[tuple[UUID, Class, CallDispatcher], Callable[[], None]] = {}

    def add(self, flow: Flow, calls: int) -> None:
        """Add to the count of a flow's calls that wait for their turn; `calls` may be negative."""
        key = (flow.tenant, flow.class_, flow.dispatcher)
        count = self._counts[key] + calls
        if count:
            self._counts[key] = count
        else:
            del self._counts[key]
        if count <= FEW and self._when_few and (tell := self._when_few.pop(key, None)) is not None:
            tell()

    def are_enough(self, tenant: UUID, class_: Class, dispatcher: CallDispatcher, when_few: Callable[[], None]) -> bool:
        """Whether enough calls of a tenant and class wait at a dispatcher; if so, `when_few` is called when few do."""
        key = (tenant, class_, dispatcher)
        enough = self._counts.get(key, 0) >= ENOUGH
        if enough:
            self._when_few[key] = when_few
        return enough

    def waiting(self, most: int) -> Iterator[tuple[UUID, Class, CallDispatcher, int]]:
        """Some tenants, classes and dispatchers with calls that wait for their turn, and how many wait there."""
        for (tenant, class_, dispatcher), count in islice(self._counts.items(), most):
            yield tenant, class_, dispatcher, count

    def clear(self) -> None:
        """Forget all counts and callbacks."""
        self._counts.clear()
        self._when_few.clear()
