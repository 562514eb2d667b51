"""A small keep-alive HTTP client: callbacks on plain connections, and one coarse ticker for all their deadlines.

No redirects, no cookies, no proxies. A connection that the server closed while it was idle is replaced. A request that
was written is never sent twice.
"""

import asyncio
from functools import partial
from typing import Final
from uuid import UUID

from horae.delivery.connection import QUIET_S, Connection, Done
from horae.delivery.dial import dial
from horae.delivery.http import Failure, HttpAnswer, HttpRequest, Origin
from horae.delivery.names import Names, Resolve, lookup
from horae.delivery.tls import Contexts
from horae.delivery.waiting import wait_for_callback
from horae.domain.instances.outcomes import ErrorCode
from horae.domain.targets.egress import Egress
from horae.runtime.telemetry import log

DEADLINE_CHECK_INTERVAL_S: Final = 0.05
IDLE_KEPT_S: Final = 30.0
"""How long an idle connection is kept."""
CLOSE_BEFORE_SERVER_S: Final = 0.5
"""Seconds by which we close an idle connection before the server does: no request meets a closing connection."""
LOOKUP_TIMEOUT_S: Final = 5.0
"""How long `addresses` waits for a name."""
MAX_CALL_S: Final = 30.0
"""Seconds that an ordinary request may take in total: name lookup, connecting and the whole answer."""
MOST_CONNECTIONS: Final = 4096
"""Connections of one client, busy and idle."""
MOST_IDLE: Final = 1024
"""Idle connections of one origin."""


class Client:
    """Keeps connections by origin. It is created and used inside one event loop; `egress` says where it may connect."""

    def __init__(
        self,
        egress: Egress,
        *,
        resolve: Resolve = lookup,
        idle_seconds: float = IDLE_KEPT_S,
        most: int = MOST_CONNECTIONS,
    ) -> None:
        self._egress = egress
        self._loop = asyncio.get_running_loop()
        self._names = Names(resolve)
        self._contexts = Contexts()
        self._idle_seconds = idle_seconds
        self._most = most
        self._idle: dict[Origin, list[Connection]] = {}
        self._connections: set[Connection] = set()
        self._opening: set[asyncio.Task[None]] = set()
        self._deserted = asyncio.Event()
        self._deserted.set()
        self._ticker: asyncio.TimerHandle | None = None

    def send(self, request: HttpRequest, done: Done) -> None:
        """Send a request and call `done` once with the result, never before `send` returns.

        1. Use an idle connection of the origin that is still open.
        2. With as many connections as allowed, close an idle one of any origin. If there is none, fail; that failure
           does not count against the target.
        3. Open a new connection in a task and send the request on it.
        """
        idle = self._idle.get(request.origin)
        while idle:
            connection = idle.pop()
            if connection.usable:
                connection.begin(request, done)
                return
        if len(self._connections) + len(self._opening) >= self._most and not self._make_room():
            full = Failure(ErrorCode.CONNECT, f"all {self._most} connections are busy", counted=False)
            self._loop.call_soon(done, full)
            return
        task = self._loop.create_task(self._open(request, done))
        self._opening.add(task)
        task.add_done_callback(partial(self._finish_open, done))

    async def close(self) -> None:
        """Close every connection; requests in flight fail. The client can be used again afterwards."""
        for task in self._opening:
            task.cancel()
        await asyncio.gather(*self._opening, return_exceptions=True)
        for connection in list(self._connections):
            connection.fail(ErrorCode.PROTOCOL, "the client was closed")
        self._names.close()
        self._contexts.close()
        await self._deserted.wait()  # each connection reports its end in a later turn of the loop
        if self._ticker is not None:
            self._ticker.cancel()
            self._ticker = None

    async def addresses(self, host: str, port: int, owner: UUID) -> list[str]:
        """Return the addresses of a host, for callers with another protocol; raises `OSError` where it has none."""
        async with asyncio.timeout(LOOKUP_TIMEOUT_S):
            return await self._names.addresses(host, port, owner)

    @property
    def connections(self) -> int:
        """How many connections are open, busy and idle."""
        return len(self._connections)

    # Callbacks of a connection.

    def on_open(self, connection: Connection) -> None:
        """Register an open connection; the ticker runs while there is any."""
        self._connections.add(connection)
        self._deserted.clear()
        connection.deadline = self._loop.time() + self._idle_seconds
        if self._ticker is None:
            self._ticker = self._loop.call_later(DEADLINE_CHECK_INTERVAL_S, self._tick)

    def on_free(self, connection: Connection, seconds: float | None) -> None:
        """Keep a connection for the next request. The most recently used one goes first, so that the others expire."""
        idle = self._idle.get(connection.origin)
        if idle is None:
            idle = self._idle[connection.origin] = []
        connection.idle = True
        kept = self._idle_seconds if seconds is None else min(self._idle_seconds, seconds - CLOSE_BEFORE_SERVER_S)
        connection.deadline = self._loop.time() + kept
        if len(idle) < MOST_IDLE:
            idle.append(connection)
        else:
            connection.drop()

    def on_close(self, connection: Connection) -> None:
        """Forget a closed connection."""
        self._connections.discard(connection)
        if not self._connections:
            self._deserted.set()
        idle = self._idle.get(connection.origin)
        if idle is None:
            return
        if connection.idle and connection in idle:
            idle.remove(connection)
        if not idle:
            del self._idle[connection.origin]

    def _tick(self) -> None:
        now = self._loop.time()
        for late in [connection for connection in self._connections if connection.deadline <= now]:
            late.expire()
        self._ticker = self._loop.call_later(DEADLINE_CHECK_INTERVAL_S, self._tick) if self._connections else None

    def _make_room(self) -> bool:
        """Close one idle connection of any origin; False where there is none."""
        for idle in self._idle.values():
            if idle:
                idle.pop(0).expire()
                return True
        return False

    async def _open(self, request: HttpRequest, done: Done) -> None:
        """Connect and send. The answer gets the time that connecting left of `MAX_CALL_S`; a long call has its own."""

        def make() -> Connection:
            return Connection(request.origin, self, self._loop)

        connection: Connection | Failure
        began_at = self._loop.time()
        try:
            connection = await dial(request, self._names, self._contexts, self._egress, make)
        except Exception as error:  # any error must reach the callback
            log.exception("dial.failed", host=request.origin.host)
            connection = Failure(ErrorCode.CONNECT, f"no connection: {type(error).__name__}")
        if isinstance(connection, Failure):
            done(connection)
            return
        is_long = request.read_timeout > QUIET_S
        left_s = request.read_timeout if is_long else began_at + MAX_CALL_S - self._loop.time()
        if left_s > 0 and connection.usable:
            connection.begin(request._replace(read_timeout=min(request.read_timeout, left_s)), done)
            return
        why = "closed at once" if left_s > 0 else f"no connection within the {MAX_CALL_S:g} s of a call"
        connection.drop()
        done(Failure(ErrorCode.CONNECT, why))

    def _finish_open(self, done: Done, task: asyncio.Task[None]) -> None:
        """Call `done` also where the task was cancelled before the connection was open."""
        self._opening.discard(task)
        if task.cancelled():
            done(Failure(ErrorCode.CONNECT, "the client was closed"))


async def ask(client: Client, request: HttpRequest) -> HttpAnswer | Failure:
    """Send a request and wait for its answer; for calls that are rare."""
    return await wait_for_callback(lambda done: client.send(request, done))
