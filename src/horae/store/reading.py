"""Rows of many tenants, read one by one: one that a newer release wrote says nothing about the others."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import asyncpg

from horae.domain.errors import HoraeError
from horae.domain.foreign import FAILURES
from horae.runtime.telemetry import log

Result = TypeVar("Result")
UNREADABLE: Final[tuple[type[Exception], ...]] = (HoraeError, *FAILURES)
"""What reading a row of another release may fail with."""


def read_rows(
    kind: str, rows: Iterable[asyncpg.Record], read: Callable[[asyncpg.Record], Result]
) -> list[tuple[asyncpg.Record, Result]]:
    """Each row with what it says. One that cannot be read is told of and left out; `id` names it."""
    found = []
    for row in rows:
        try:
            found.append((row, read(row)))
        except UNREADABLE as error:
            log.error("row.unreadable", kind=kind, id=str(row["id"]), reason=str(error)[:500])
    return found
