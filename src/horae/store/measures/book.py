"""The measures that one process knows to be in force in a cell. A duty keeps it up to date (`upkeep.measures`)."""

from horae.domain.measures.in_force import NO_MEASURES, MeasuresInForce
from horae.domain.measures.withheld import WithheldSpans


class MeasureBook:
    """`in_force` is `NO_MEASURES` nearly always: whoever asks tests that first."""

    def __init__(self) -> None:
        self.in_force: MeasuresInForce = NO_MEASURES
        self.withheld = WithheldSpans()

    def set(self, measures: MeasuresInForce, now: float) -> None:
        """Note what is in force from now on."""
        self.in_force = measures
        self.withheld.note(measures, now)
