"""The measures that are in force now, as nodes and API processes ask for them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import product
from types import MappingProxyType
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.instances.instances import Lane, Priority
from horae.domain.limits.shares import Class
from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureAction, MeasureState

NO_ACTIONS: Final[frozenset[MeasureAction]] = frozenset()
CLOSES_LOW: Final = frozenset({MeasureAction.PAUSE_LOW, MeasureAction.CORE_ONLY})
"""Actions that withhold low-priority work."""


class MeasureInForce(NamedTuple):
    """A measure with the actions that it has now."""

    state: MeasureState
    actions: frozenset[MeasureAction]


class MeasuresInForce(NamedTuple):
    """The actions for the platform and for single tenants, and the measures behind them."""

    platform: frozenset[MeasureAction] = NO_ACTIONS
    tenants: Mapping[UUID, frozenset[MeasureAction]] = MappingProxyType({})
    measures: tuple[MeasureInForce, ...] = ()

    def actions(self, tenant_id: UUID) -> frozenset[MeasureAction]:
        """Return every action that concerns a tenant."""
        return self.platform | self.tenants.get(tenant_id, NO_ACTIONS)

    def withholds(self, tenant_id: UUID, priority: int) -> bool:
        """Whether work of this tenant and priority is not started now."""
        if withholds_priority(self.platform, priority):
            return True
        own = self.tenants.get(tenant_id)
        return own is not None and withholds_priority(own, priority)

    def cause_of(self, tenant_id: UUID, *actions: MeasureAction) -> MeasureState | None:
        """Return the measure that has one of these actions for a tenant; None if none is in force."""
        for measure in self.measures:
            if measure.state.tenant_id in (PLATFORM_SCOPE, tenant_id) and not measure.actions.isdisjoint(actions):
                return measure.state
        return None

    def same_actions(self, other: "MeasuresInForce") -> bool:
        """Whether the same is withheld as by the other measures."""
        return (self.platform, self.tenants) == (other.platform, other.tenants)


NO_MEASURES: Final = MeasuresInForce()


def in_force(states: Iterable[MeasureState], now: datetime) -> MeasuresInForce:
    """Return the measures that are in force at a time."""
    measures = tuple(MeasureInForce(state, actions) for state in states if (actions := state.actions_at(now)))
    if not measures:
        return NO_MEASURES
    tenants: dict[UUID, frozenset[MeasureAction]] = {}
    for state, actions in measures:
        tenants[state.tenant_id] = tenants.get(state.tenant_id, NO_ACTIONS) | actions
    return MeasuresInForce(tenants.pop(PLATFORM_SCOPE, NO_ACTIONS), tenants, measures)


def withholds_priority(actions: frozenset[MeasureAction], priority: int) -> bool:
    """Whether these actions withhold work of a priority. Critical work is never withheld."""
    if priority == Priority.LOW:
        return not actions.isdisjoint(CLOSES_LOW)
    return priority == Priority.NORMAL and MeasureAction.CORE_ONLY in actions


def withheld_classes(actions: frozenset[MeasureAction]) -> frozenset[Class]:
    """Return the classes that these actions withhold."""
    return frozenset(class_ for class_ in product(Priority, Lane) if withholds_priority(actions, class_[0]))
