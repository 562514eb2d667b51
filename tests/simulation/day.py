"""The day on which every seed happens."""

from datetime import UTC, datetime, timedelta

from tests.simulation.loop import START

EPOCH = datetime(2026, 11, 15, 6, tzinfo=UTC)


def at(tick: float) -> datetime:
    """The true time at a tick of the virtual loop."""
    return EPOCH + timedelta(seconds=tick - START)
