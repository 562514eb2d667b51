"""The gate of protective measures: which classes and tenants take no turns, and how fast limited ones do.

It exists only while a measure is in force. Each question takes a constant number of steps:

1. What a measure withholds from everybody is a set of classes. Such a class is not looked at.
2. What it withholds from one tenant parks that tenant in the turns of the class, as a tenant at its bound of slots.
3. A limited tenant, or the limited low priority of all, has a credit. A call uses up one; time and the calls of other
   priorities earn it.
"""

from typing import Final
from uuid import UUID

from horae.domain.instances.instances import Priority
from horae.domain.limits.shares import Class
from horae.domain.measures.in_force import MeasuresInForce, withheld_classes
from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureAction

LIMITED_SHARE: Final = 0.1
"""Low-priority calls per call of another priority while low priority is limited."""
MIN_LIMITED_PER_S: Final = 1.0
"""Low-priority calls per second that a limited node sends in any case."""
MAX_SAVED_TOKENS: Final = 10.0


class MeasureGate:
    """What admission asks while a measure is in force. `parked` are the tenants that it has taken out of the turns."""

    def __init__(self, measures: MeasuresInForce, now: float) -> None:
        self.measures = measures
        self.parked: set[UUID] = set()
        self.closed = withheld_classes(measures.platform)
        self._closed_of = {tenant: withheld_classes(actions) for tenant, actions in measures.tenants.items()}
        scopes = ((PLATFORM_SCOPE, measures.platform), *measures.tenants.items())
        self._credits = {scope: 1.0 for scope, actions in scopes if MeasureAction.LIMIT_LOW in actions}
        self._earned_at = now

    def is_closed(self, class_: Class) -> bool:
        """Whether a class takes no turns now, whoever has work in it."""
        return class_ in self.closed or (class_[0] == Priority.LOW and self._credits.get(PLATFORM_SCOPE, 1.0) < 1.0)

    def withholds(self, tenant: UUID, class_: Class) -> bool:
        """Whether a tenant takes no turns in a class now."""
        closed = self._closed_of.get(tenant)
        if closed is None:
            return False
        return class_ in closed or (class_[0] == Priority.LOW and self._credits.get(tenant, 1.0) < 1.0)

    def count(self, tenant: UUID, class_: Class) -> None:
        """Count an admitted call."""
        low = class_[0] == Priority.LOW
        for scope in (PLATFORM_SCOPE, tenant):
            credit = self._credits.get(scope)
            if credit is not None:
                self._credits[scope] = credit - 1.0 if low else min(MAX_SAVED_TOKENS, credit + LIMITED_SHARE)

    def earn(self, now: float) -> None:
        """Let limited scopes earn what the time since the last call of this function is worth."""
        earned, self._earned_at = max(0.0, now - self._earned_at) * MIN_LIMITED_PER_S, now
        self._credits = {scope: min(MAX_SAVED_TOKENS, credit + earned) for scope, credit in self._credits.items()}
