"""How long things are kept, which days are where, and how far the archive is behind.

Terms and the lag of the archive are those that a node has measured last; days are read as they are.
"""

from datetime import UTC, date
from functools import partial
from typing import NamedTuple

from horae.domain.errors import Unavailable
from horae.domain.health.growth import Growth, RetentionTerms
from horae.domain.health.retention import DayPlace, place_of
from horae.service.context import CallerContext
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.databases.archived_days import ArchiveState
from horae.store.health import growth, retention
from horae.store.health.retention import DayRow, DroppedRow
from horae.store.tx import Tx

__all__ = ["CellRetention", "DroppedRow", "PlacedDay", "Retention", "read"]


class PlacedDay(NamedTuple):
    """A day of a cell, and where it is."""

    row: DayRow
    place: DayPlace


class CellRetention(NamedTuple):
    """The days of one cell, and its last measurement; None before the first one."""

    cell: str
    growth: Growth | None
    days: list[PlacedDay]
    dropped: list[DroppedRow]


class Retention(NamedTuple):
    """How long things are kept, and the first days of which rows are left. Cells that are down are named."""

    terms: RetentionTerms | None
    hot_since: date | None
    archived_since: date | None
    cells: list[CellRetention]
    cells_down: list[str]


async def read(ctx: CallerContext) -> Retention:
    """Returns the retention of all cells that answer."""

    async def look(tx: Tx) -> tuple[Growth | None, list[DayRow], list[DroppedRow], date]:
        measured = await growth.read(tx)
        return measured, await retention.days(tx), await retention.dropped(tx), tx.now.astimezone(UTC).date()

    seen = await ask_each(ctx.store.cells, partial(ask_by_statement, look))
    if not seen.found:
        raise Unavailable("no cell answers now; nothing is known of the days that it keeps")
    cells = []
    for cell, (measured, rows, dropped, today) in seen.found.items():
        archives = measured is not None and measured.terms is not None and measured.terms.archive is not None
        cells.append(CellRetention(cell.name, measured, _placed(rows, today, archives=archives), dropped))
    days = [one for cell in cells for one in cell.days]
    newest = max((cell.growth for cell in cells if cell.growth), key=lambda one: one.measured_at, default=None)
    return Retention(
        None if newest is None else newest.terms,
        min((one.row.day for one in days if one.row.bytes is not None), default=None),
        min((one.row.day for one in days if one.row.state == ArchiveState.ARCHIVED), default=None),
        sorted(cells, key=lambda cell: cell.cell),
        sorted(seen.down),
    )


def _placed(rows: list[DayRow], today: date, *, archives: bool) -> list[PlacedDay]:
    return [
        PlacedDay(
            row,
            place_of(
                is_today=row.day >= today,
                is_stored=row.bytes is not None,
                archive_state=row.state,
                archives=archives,
            ),
        )
        for row in rows
    ]
