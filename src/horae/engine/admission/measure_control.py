"""Applies the protective measures that are in force to the turns of admission.

While no measure is in force there is no gate, and each question is one test of an attribute.
"""

from collections.abc import Callable, Iterable
from uuid import UUID

from horae.domain.limits.shares import Class
from horae.domain.measures.in_force import NO_MEASURES, MeasuresInForce
from horae.engine.admission.fair import Fair
from horae.engine.admission.holds import DispatcherHold
from horae.engine.admission.measure_gate import MeasureGate
from horae.engine.admission.measure_holds import measure_holds
from horae.engine.admission.target import Flow
from horae.engine.admission.turns import TurnCounts

MayTake = Callable[[Class], bool]


class MeasureControl:
    """The measures of one admission. `gate` is None while none is in force; `dispatch` tests that for each call."""

    def __init__(self) -> None:
        self.gate: MeasureGate | None = None

    @property
    def in_force(self) -> MeasuresInForce:
        """The measures that are in force here."""
        return NO_MEASURES if self.gate is None else self.gate.measures

    def set(self, measures: MeasuresInForce, fair: Fair, now: float) -> None:
        """Withhold what these measures say from now on, and let everything else take turns again."""
        before = self.gate
        self.gate = MeasureGate(measures, now) if measures.measures else None
        _resume(fair, () if before is None else before.parked)

    def recheck(self, fair: Fair, now: float) -> None:
        """Let limited scopes earn calls, and parked tenants take turns again: the gate decides anew about each."""
        if self.gate is not None:
            self.gate.earn(now)
            parked, self.gate.parked = self.gate.parked, set()
            _resume(fair, parked)

    def may_take(self, may: MayTake) -> MayTake:
        """Return whether a class may take a slot: `may` decides, and then the measures."""
        gate = self.gate
        return may if gate is None else lambda class_: may(class_) and not gate.is_closed(class_)

    def withholds(self, flow: Flow) -> bool:
        """Whether a measure withholds a flow, so that it uses no room of its target."""
        gate = self.gate
        return gate is not None and (gate.is_closed(flow.class_) or gate.withholds(flow.tenant, flow.class_))

    def holds(self, turns: TurnCounts) -> list[DispatcherHold]:
        """Return the holds of the calls that measures withhold."""
        return [] if self.gate is None else measure_holds(self.gate, turns)


def _resume(fair: Fair, tenants: Iterable[UUID]) -> None:
    for tenant in tenants:
        fair.resume(tenant)
