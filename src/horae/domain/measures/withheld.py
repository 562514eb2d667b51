"""The spans of time in which measures withheld work, so that a measure does not judge what it withheld itself.

Otherwise low-priority fires that were paused would be late because of the pause, and keep it in force for ever.
"""

from typing import Final
from uuid import UUID

from horae.domain.instances.instances import Priority
from horae.domain.measures.in_force import MeasuresInForce, withholds_priority
from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureAction

KEPT_S: Final = 6 * 3600.0
"""Seconds for which a span is remembered after its end: fires that were withheld may still wait."""
Span = tuple[float, float | None]
"""The begin and the end of a span, in seconds; None: it goes on."""


class WithheldSpans:
    """The last span of each scope and priority. With no span known, `overlap_ms` is one test."""

    def __init__(self) -> None:
        self._spans: dict[tuple[UUID, int], Span] = {}

    @property
    def known(self) -> bool:
        """Whether any span is known; nearly always none is."""
        return bool(self._spans)

    def note(self, measures: MeasuresInForce, now: float) -> None:
        """Note what is withheld from now on."""
        withheld = {
            (scope, priority)
            for scope, actions in ((PLATFORM_SCOPE, measures.platform), *measures.tenants.items())
            for priority in Priority
            if withholds_priority(actions, priority)
            or (priority == Priority.LOW and MeasureAction.LIMIT_LOW in actions)
        }
        spans = self._spans
        for key, (begin, end) in list(spans.items()):
            if key not in withheld and end is None:
                spans[key] = (begin, now)
            elif end is not None and end < now - KEPT_S:
                del spans[key]
        for key in withheld:
            begin, end = spans.get(key, (now, now))
            spans[key] = (begin, None) if end is None or key not in self._spans else (now, None)

    def overlap_ms(self, tenant_id: UUID, priority: int, due_at: float, now: float) -> int:
        """Return for how many milliseconds between a due time and now a measure withheld such work."""
        if not self._spans:
            return 0
        found = 0.0
        for scope in (PLATFORM_SCOPE, tenant_id):
            span = self._spans.get((scope, priority))
            if span is not None:
                begin, end = span
                found = max(found, (now if end is None else min(end, now)) - max(begin, due_at))
        return int(found * 1000)
