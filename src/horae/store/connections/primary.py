"""Connects to the primary of a cell.

A DSN may name every member of a cell. After a failover two members may take writes: the new primary, and an old one
whose agent hangs. A commit on the old one waits for its standby for ever, so nothing is lost there, but nothing gets
done either. Therefore:

1. A connection asks all members at the same time: a member that is cut off delays nobody.
2. Of the members that take writes, it takes the one with the newest timeline. Every promotion begins a new timeline.
3. A process that has seen a timeline never uses an older one of the same database cluster.
4. When it sees a new timeline, it closes every connection of an older one, also those that wait for an answer.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakSet

import asyncpg
from asyncpg.connect_utils import SessionAttribute
from asyncpg.exceptions import TargetServerAttributeNotMatched

from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store.connections.admission import TIMELINE_DIGITS, CellKey, admit
from horae.store.connections.array_types import register_arrays
from horae.store.connections.transports import Address, addresses_of
from horae.store.statements import sql

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]
else:
    Connection = asyncpg.Connection  # it takes no type when the program runs

SURVEY_S: Final = 0.4
"""How long a connection waits for the other members after one of them could be used."""
SILENCE_S: Final = 30.0
"""How long nobody waits for a member that did not answer in `SURVEY_S`. It is asked nevertheless."""

_newest: Final[dict[int, int]] = {}
"""The newest timeline that this process has seen, by database cluster."""
_silent_until: Final[dict[Address, float]] = {}
_opened: Final["WeakSet[IdentifiedConnection]"] = WeakSet()
_lock: Final = Lock()
"""Guards the set: leases and fires have threads of their own."""


class ServerIdentity(NamedTuple):
    """Which database cluster a server belongs to, and its timeline."""

    cluster_id: int
    timeline: int


class IdentifiedConnection(Connection):
    """A connection that knows its cell, and its server where the DSN names several members.

    It belongs to the loop of one thread.
    """

    server: ServerIdentity | None = None
    cell_key: CellKey | None = None
    loop: asyncio.AbstractEventLoop

    def close_in_its_thread(self) -> None:
        """Close it without telling the server, from any thread."""
        with suppress(RuntimeError):  # its loop has ended, and the connection with it
            self.loop.call_soon_threadsafe(self.terminate)


async def connect_to_primary(dsn: str, *, timeout: float, **options: Any) -> IdentifiedConnection:  # noqa: ASYNC109  # the driver passes it
    """A connection to the server that takes writes, if it is the cell of today. `options` are those of the driver."""
    fixed = {"target_session_attrs": SessionAttribute.read_write, "connection_class": IdentifiedConnection}
    connection = await _connect(dsn, timeout, options | fixed)
    register_arrays(connection)
    try:
        async with asyncio.timeout(timeout):
            connection.cell_key = await admit(connection)
    except BaseException:
        connection.terminate()
        raise
    return connection


async def _connect(dsn: str, seconds: float, options: dict[str, Any]) -> IdentifiedConnection:
    addresses = addresses_of(dsn)
    if len(addresses) == 1:
        single: IdentifiedConnection = await asyncpg.connect(dsn, timeout=seconds, **options)
        return single
    calls = {address: asyncio.create_task(_open(dsn, address, seconds, options)) for address in addresses}
    chosen: IdentifiedConnection | None = None
    try:
        await _wait(calls, seconds)
        chosen = _choose(calls)
        return chosen
    finally:
        for call in calls.values():
            call.add_done_callback(lambda done: _drop_unless(done, chosen))
            call.cancel()


async def connect_to_member(dsn: str, address: Address, seconds: float, session: dict[str, str]) -> Connection:
    """A connection to one member, also to a standby: to look at it, never to decide anything."""
    return await asyncpg.connect(
        dsn,
        host=address.host,
        port=address.port,
        timeout=seconds,
        server_settings=session,
        target_session_attrs=SessionAttribute.any,
    )


async def identify(connection: Connection) -> ServerIdentity:
    """The identity of a server that takes writes."""
    row = await connection.fetchrow(sql("connections/primary/identify"))
    assert row is not None
    return ServerIdentity(row["cluster_id"], int(row["wal_file"][:TIMELINE_DIGITS], 16))


async def _open(dsn: str, address: Address, seconds: float, options: dict[str, Any]) -> IdentifiedConnection:
    connection: IdentifiedConnection = await asyncpg.connect(
        dsn, host=address.host, port=address.port, timeout=seconds, **options
    )
    try:
        connection.server, connection.loop = await identify(connection), asyncio.get_running_loop()
    except BaseException:
        connection.terminate()
        raise
    return connection


async def _wait(calls: "dict[Address, asyncio.Task[IdentifiedConnection]]", seconds: float) -> None:
    """Wait until all members have answered; after `SURVEY_S` until one of them can be used.

    A member that is known to be silent is waited for only if no other can be used.
    """
    began = boottime()
    expected = [call for address, call in calls.items() if not _is_silent(address)]
    await asyncio.wait(expected or calls.values(), timeout=SURVEY_S)
    _remember_silence(calls)
    while (left := seconds - (boottime() - began)) > 0 and not any(_is_usable(call) for call in calls.values()):
        pending = [call for call in calls.values() if not call.done()]
        if not pending:
            return
        await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_COMPLETED)


def _is_silent(address: Address) -> bool:
    return _silent_until.get(address, 0.0) > boottime()


def _remember_silence(calls: "dict[Address, asyncio.Task[IdentifiedConnection]]") -> None:
    for address, call in calls.items():
        if call.done():
            _silent_until.pop(address, None)
        elif not _is_silent(address):
            _silent_until[address] = boottime() + SILENCE_S


def _is_usable(call: "asyncio.Task[IdentifiedConnection]") -> bool:
    return call.done() and not call.cancelled() and call.exception() is None


def _choose(calls: "dict[Address, asyncio.Task[IdentifiedConnection]]") -> IdentifiedConnection:
    """The connection with the newest timeline. Raises if there is none, or if a newer primary is known."""
    usable = {address: call.result() for address, call in calls.items() if _is_usable(call)}
    if not usable:
        raise _telling(call.exception() for call in calls.values() if call.done() and not call.cancelled())
    address, connection = max(usable.items(), key=lambda pair: _timeline(pair[1]))
    server = connection.server
    assert server is not None
    known = _newest.get(server.cluster_id)
    if known is not None and server.timeline < known:
        raise ConnectionError(f"{address} is an old primary: its timeline is {server.timeline}, the newest is {known}")
    with _lock:
        _newest[server.cluster_id] = server.timeline
        _opened.add(connection)
        superseded = [one for one in _opened if _is_superseded(one)]
    if known is not None and server.timeline > known:
        log.warning("primary.changed", host=str(address), timeline=server.timeline)
    for one in superseded:
        one.close_in_its_thread()
    return connection


def _is_superseded(connection: IdentifiedConnection) -> bool:
    """Whether a newer primary than the server of this connection is known."""
    server = connection.server
    return server is not None and server.timeline < _newest.get(server.cluster_id, 0)


def _timeline(connection: IdentifiedConnection) -> int:
    return 0 if connection.server is None else connection.server.timeline


def _telling(errors: Iterable[BaseException | None]) -> BaseException:
    """The error that says most: a refused login before a standby before a dead host."""
    found = [error for error in errors if error is not None]
    order = (OSError, TargetServerAttributeNotMatched)
    ranked = sorted(found, key=lambda error: next((n for n, kind in enumerate(order) if isinstance(error, kind)), 2))
    return ranked[-1] if ranked else TimeoutError("no member of the cell answered")


def _drop_unless(call: "asyncio.Task[IdentifiedConnection]", chosen: Connection | None) -> None:
    """Close a connection that was not chosen, and retrieve the error of a call that failed."""
    with suppress(asyncio.CancelledError, Exception):
        connection = call.result()
        if connection is not chosen:
            connection.terminate()
