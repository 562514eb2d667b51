"""Finds the copies in other cells that are newer than the rows of a restored cell."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, NamedTuple

from horae.domain.restores.doubts import Row


class CopyFacts(NamedTuple):
    """The columns that identify a row of a table, and the column that rises with every change of the row."""

    key: tuple[str, ...]
    version: str


COPIES: Final = {
    "data_key": CopyFacts(("shard_id", "tenant_id", "version"), "revision"),
    "channel": CopyFacts(("shard_id", "tenant_id", "kind", "name"), "version"),
}
"""The tables whose newest copy is right, because their rows grant nothing by themselves."""


def newer_copies(table: str, own: Iterable[Row], copies: Iterable[Row]) -> list[Row]:
    """The newest copy of each row that the restored cell lacks, or has in an older version. Each row is there once."""
    facts = COPIES[table]
    newest = {_key(facts, row): row for row in own}
    newer: dict[tuple[Any, ...], Row] = {}
    for row in sorted(copies, key=_changed_at):
        key = _key(facts, row)
        if key not in newest or _replaces(facts, row, newest[key]):
            newest[key] = newer[key] = row
    return list(newer.values())


def _replaces(facts: CopyFacts, row: Row, older: Row) -> bool:
    """Whether a copy replaces a row. What was removed may begin again with version 1."""
    if older[facts.version] < row[facts.version]:
        return True
    return _is_removed(older) and _changed_at(older) < _changed_at(row)


def _is_removed(row: Row) -> bool:
    return "body" in row and row["body"] is None


def _changed_at(row: Row) -> datetime:
    return datetime.fromisoformat(row["changed_at"])


def _key(facts: CopyFacts, row: Row) -> tuple[Any, ...]:
    return tuple(row[column] for column in facts.key)
