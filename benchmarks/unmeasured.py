"""Imported in a node's process by `benchmarks.measures`: no signal is counted, no measure is judged or read."""

from horae.repositories.settle import Settler
from horae.upkeep.measures import MeasureJudge, MeasureReader
from horae.upkeep.signals import Signaller


async def _nothing(_duty: object) -> int:
    return 0


def _uncounted(_settler: Settler, *_facts: object) -> None:
    """A result leaves no signal."""


for duty in (MeasureJudge, MeasureReader, Signaller):
    duty.once = _nothing  # type: ignore[method-assign,assignment]
Settler._count = _uncounted  # type: ignore[method-assign]
