"""Finds the likely causes of late fires, over all cells."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from horae.domain.health.delay_causes import DelayCause, find_delay_causes
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.health import delay_causes
from horae.store.protocol import CellProtocol


async def explain_delays(cells: Sequence[CellProtocol], minute: datetime, limit_ms: float) -> list[DelayCause]:
    """Return why fires of a minute were later than the limit. A cell that is down is left out."""
    read = partial(delay_causes.read, minute=minute)
    seen = await ask_each(cells, partial(ask_by_statement, read))
    return find_delay_causes({cell.name: one for cell, one in seen.found.items()}, limit_ms)
