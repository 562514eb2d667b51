"""The days of a cell whose rows are in the archive only."""

from datetime import date
from typing import NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


class ColdDayRow(NamedTuple):
    """A day, its folder in the archive, and the number of its manifest."""

    day: date
    archive_id: UUID
    generation: int


async def listing(tx: Tx) -> list[ColdDayRow]:
    """The cold days of a cell, the oldest first."""
    return [ColdDayRow(*row) for row in await tx.rows(sql("databases/cold_days/listing"))]
