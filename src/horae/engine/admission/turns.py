"""How many calls of each tenant and class wait for nothing but their turn."""

from collections import defaultdict
from collections.abc import Callable
from typing import Final
from uuid import UUID

from horae.domain.shares import Class
from horae.engine.admission.flow import Flow
from horae.engine.admission.ready import Desk

ENOUGH: Final = 1000
"""Calls of one tenant and class at one desk from which on no more need to be offered: several batches of a desk."""
FEW: Final = 500


class TurnCounts:
    """Counted by flows as they take turns or stop. What a gate holds back does not count."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[UUID, Class, Desk], int] = defaultdict(int)
        self._when_few: dict[tuple[UUID, Class, Desk], Callable[[], None]] = {}

    def add(self, flow: Flow, calls: int) -> None:
        """So many calls more of a flow wait for their turn, or fewer."""
        key = (flow.tenant, flow.class_, flow.desk)
        count = self._counts[key] + calls
        if count:
            self._counts[key] = count
        else:
            del self._counts[key]
        if count <= FEW and self._when_few and (tell := self._when_few.pop(key, None)) is not None:
            tell()

    def are_enough(self, tenant: UUID, class_: Class, desk: Desk, when_few: Callable[[], None]) -> bool:
        """Whether no more calls of a tenant and class need to be offered at a desk; `when_few` is called later."""
        key = (tenant, class_, desk)
        enough = self._counts.get(key, 0) >= ENOUGH
        if enough:
            self._when_few[key] = when_few
        return enough

    def clear(self) -> None:
        """Nobody waits any more."""
        self._counts.clear()
        self._when_few.clear()
