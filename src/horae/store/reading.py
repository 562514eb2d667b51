"""Reads rows of many tenants one by one, so that a row of a newer release does not affect the others."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import asyncpg

from horae.domain.errors import HoraeError
from horae.domain.foreign import FAILURES
from horae.runtime.telemetry import log

Result = TypeVar("Result")
UNREADABLE: Final[tuple[type[Exception], ...]] = (HoraeError, *FAILURES)
"""Errors that a row written by another release may raise when it is read."""


def read_rows(
    kind: str, rows: Iterable[asyncpg.Record], read: Callable[[asyncpg.Record], Result]
) -> list[tuple[asyncpg.Record, Result]]:
    """Convert each row; returns pairs of row and result. An unreadable row is logged with its `id` and left out."""
    found = []
    for row in rows:
        try:
            found.append((row, read(row)))
        except UNREADABLE as error:
            log.error("row.unreadable", kind=kind, id=str(row["id"]), reason=str(error)[:500])
    return found
