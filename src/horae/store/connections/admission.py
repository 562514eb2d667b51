"""Admits a new connection only to the cell of today, never to a restored one that nobody has opened.

Every connection of a process comes through here, so nothing is read from such a database or written to it. The error is
a ConnectionError: the cell counts as down until it is opened.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, NamedTuple

import asyncpg

from horae.domain.restores.generations import CellRecord, ConnectionVerdict, NodeMark, ServerFacts, judge
from horae.store.statements import sql

if TYPE_CHECKING:
    from uuid import UUID

    Connection = asyncpg.Connection[asyncpg.Record]

TIMELINE_DIGITS: Final = 8
"""The hexadecimal digits at the beginning of the name of a WAL file, which are its timeline."""
NOT_A_CELL: Final = (asyncpg.UndefinedTableError, asyncpg.InsufficientPrivilegeError)
"""A database without tables of this release, or a role without rights: other checks name them."""

_generations: Final[dict["CellKey", int]] = {}
"""The generation of each cell that this process has worked with."""
_marks: Final[dict["CellKey", dict["UUID", NodeMark]]] = {}
"""The last heartbeat of each node of this process, by cell."""
_unchecked: Final[ContextVar[bool]] = ContextVar("unchecked", default=False)


class CellKey(NamedTuple):
    """A database of a database cluster. A physical restore keeps both."""

    cluster_id: int
    database: str


class CellClosedError(ConnectionError):
    """The database is a restored cell that nobody has opened, or the past of a restored cell."""


@contextmanager
def unchecked() -> Iterator[None]:
    """Connections that are opened in this block reach closed cells, too: to examine and to open them."""
    token = _unchecked.set(True)
    try:
        yield
    finally:
        _unchecked.reset(token)


async def admit(connection: "Connection") -> CellKey | None:
    """The key of the cell, if the connection may be used. Raises CellClosedError otherwise."""
    if _unchecked.get():
        return None
    row = await read(connection)
    if row is None:
        return None
    key = CellKey(row["server_cluster_id"], row["database"])
    mark = max(_marks.get(key, {}).values(), key=lambda one: one.seen_at, default=None)
    record, server = record_of(row), server_of(row)
    judgement = judge(record, server, _generations.get(key), mark)
    if judgement.verdict == ConnectionVerdict.MUST_FOLLOW:
        assert mark is not None
        if not await follow(connection, record, server, mark):
            raise CellClosedError(judgement.reason)
    elif judgement.verdict == ConnectionVerdict.REFUSED:
        raise CellClosedError(judgement.reason)
    _generations[key] = record.generation
    return key


def remember(key: CellKey, mark: NodeMark) -> None:
    """Remember the heartbeat that a cell has just acknowledged: it must be there after a failover."""
    _marks.setdefault(key, {})[mark.incarnation] = mark


def forget(key: CellKey, incarnation: "UUID") -> None:
    """Forget the heartbeat of a node that leaves the cell and deletes its row."""
    _marks.get(key, {}).pop(incarnation, None)


async def follow(connection: "Connection", record: CellRecord, server: ServerFacts, mark: NodeMark) -> bool:
    """Record the new timeline if the mark is there and is among the last; True also if another process was first."""
    statement = sql("connections/admission/follow")
    if await connection.fetchval(statement, record.cluster_id, record.timeline, server.timeline, *mark) is not None:
        return True
    row = await read(connection)
    return row is not None and row["timeline"] == server.timeline


async def read(connection: "Connection") -> asyncpg.Record | None:
    """The recorded generation beside the facts of the server; None where the database is no cell of this release."""
    try:
        return await connection.fetchrow(sql("connections/admission/read"))
    except NOT_A_CELL:
        return None


def record_of(row: asyncpg.Record) -> CellRecord:
    """What a cell has recorded about itself."""
    return CellRecord(row["generation"], row["cluster_id"], row["timeline"], row["closed_reason"])


def server_of(row: asyncpg.Record) -> ServerFacts:
    """What the server of a cell says about itself."""
    timeline = int(row["wal_file"][:TIMELINE_DIGITS], 16)
    return ServerFacts(row["server_cluster_id"], timeline, row["recovery_target"])
