"""Reports the calls that measures withhold as holds, so that everybody sees which measure a call waits for."""

from typing import Final
from uuid import UUID

from horae.domain.instances.instances import Lane, Priority
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import GateKind, GateName, HeldLane, Hold, measure_gate_name
from horae.domain.measures.in_force import CLOSES_LOW
from horae.domain.measures.measures import MeasureAction, MeasureState
from horae.engine.admission.holds import MAX_HOLDS, DispatcherHold
from horae.engine.admission.measure_gate import MeasureGate
from horae.engine.admission.target import CallDispatcher
from horae.engine.admission.turns import TurnCounts

CLASSES_EXPLORED: Final = 5000
"""Tenants with a class that one round looks at."""
WITHHOLDING: Final = (*CLOSES_LOW, MeasureAction.LIMIT_LOW)
Place = tuple[CallDispatcher, UUID, HeldLane, Priority]


def measure_holds(gate: MeasureGate, turns: TurnCounts) -> list[DispatcherHold]:
    """One hold for each tenant, priority and lane whose calls wait because of a measure."""
    found: dict[Place, tuple[MeasureState, int]] = {}
    for (tenant, class_, dispatcher, _), waiting in turns.waiting(CLASSES_EXPLORED):
        if not gate.is_closed(class_) and not gate.withholds(tenant, class_):
            continue
        cause = gate.measures.cause_of(tenant, *WITHHOLDING)
        if cause is None:
            continue
        lane = HeldLane.RETRY if class_[1] == Lane.RETRY else HeldLane.FIRST
        place = (dispatcher, tenant, lane, Priority(class_[0]))
        found[place] = (cause, waiting + (found[place][1] if place in found else 0))
    return [_hold(place, *one) for place, one in list(found.items())[:MAX_HOLDS]]


def _hold(place: Place, cause: MeasureState, waiting: int) -> DispatcherHold:
    dispatcher, tenant, lane, priority = place
    hold = Hold(
        tenant_id=tenant,
        gate=GateName(GateKind.MEASURE, measure_gate_name(cause.name, priority)),
        lane=lane,
        reason=HoldReason.MEASURE,
        since=cause.since or cause.judged_until,
        waiting=waiting,
    )
    return DispatcherHold(dispatcher, hold)
