"""A lean keep-alive client: callbacks on plain connections, one coarse ticker for all their deadlines.

No redirects, no cookies, no proxies. A connection that was closed while idle is replaced; a request that was written
is never sent twice.
"""

import asyncio
from functools import partial
from typing import Final
from uuid import UUID

from horae.delivery.connection import Connection, Done
from horae.delivery.dial import dial
from horae.delivery.http import Answer, Failure, Origin, Request
from horae.delivery.names import Names, Resolve, lookup
from horae.delivery.tls import Contexts
from horae.delivery.waiting import answered
from horae.domain.egress import Egress
from horae.domain.outcomes import ErrorCode
from horae.runtime.telemetry import log

TICK: Final = 0.05
IDLE_SECONDS: Final = 30.0
CLOSE_FIRST: Final = 0.5  # before the server does, so that no request meets a closing door
LOOKUP_TIMEOUT_S: Final = 5.0
MAX_CALL_S: Final = 30.0
"""Seconds that one request may take in all: looking up the name, connecting, and the whole answer."""
MOST_CONNECTIONS: Final = 4096
MOST_IDLE: Final = 1024  # of one origin


class Client:
    """Keeps connections by origin. Made and used inside one running loop; `egress` is where it may connect to."""

    def __init__(
        self,
        egress: Egress,
        *,
        resolve: Resolve = lookup,
        idle_seconds: float = IDLE_SECONDS,
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

    def send(self, request: Request, done: Done) -> None:
        """Send, and call `done` once with what came of it; never before this returns."""
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
        task.add_done_callback(partial(self._opened, done))

    async def close(self) -> None:
        """End every connection; what is under way fails. A later request would begin anew."""
        for task in self._opening:
            task.cancel()
        await asyncio.gather(*self._opening, return_exceptions=True)
        for connection in list(self._connections):
            connection.fail(ErrorCode.PROTOCOL, "the client was closed")
        self._names.close()
        self._contexts.close()
        await self._deserted.wait()  # each tells of its end in a later turn of the loop
        if self._ticker is not None:
            self._ticker.cancel()
            self._ticker = None

    async def addresses(self, host: str, port: int, owner: UUID) -> list[str]:
        """The addresses of a host, for who connects by another protocol; raises `OSError` where there are none."""
        async with asyncio.timeout(LOOKUP_TIMEOUT_S):
            return await self._names.addresses(host, port, owner)

    @property
    def connections(self) -> int:
        """How many stand, busy and idle."""
        return len(self._connections)

    # What a connection tells.

    def made(self, connection: Connection) -> None:
        """It stands; the ticker runs as long as any does."""
        self._connections.add(connection)
        self._deserted.clear()
        connection.deadline = self._loop.time() + self._idle_seconds
        if self._ticker is None:
            self._ticker = self._loop.call_later(TICK, self._tick)

    def free(self, connection: Connection, seconds: float | None) -> None:
        """Keep it for the next request; the one used last is used first, so that the rest can expire."""
        idle = self._idle.get(connection.origin)
        if idle is None:
            idle = self._idle[connection.origin] = []
        connection.idle = True
        kept = self._idle_seconds if seconds is None else min(self._idle_seconds, seconds - CLOSE_FIRST)
        connection.deadline = self._loop.time() + kept
        if len(idle) < MOST_IDLE:
            idle.append(connection)
        else:
            connection.drop()

    def lost(self, connection: Connection) -> None:
        """Forget it."""
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
        self._ticker = self._loop.call_later(TICK, self._tick) if self._connections else None

    def _make_room(self) -> bool:
        """Let an idle connection go, of whichever origin."""
        for idle in self._idle.values():
            if idle:
                idle.pop(0).expire()
                return True
        return False

    async def _open(self, request: Request, done: Done) -> None:
        def make() -> Connection:
            return Connection(request.origin, self, self._loop)

        connection: Connection | Failure
        began_at = self._loop.time()
        try:
            connection = await dial(request, self._names, self._contexts, self._egress, make)
        except Exception as error:  # whatever it was: whoever waits for the answer is told
            log.exception("dial.failed", host=request.origin.host)
            connection = Failure(ErrorCode.CONNECT, f"no connection: {type(error).__name__}")
        if isinstance(connection, Failure):
            done(connection)
            return
        left_s = began_at + MAX_CALL_S - self._loop.time()
        if left_s > 0 and connection.usable:
            connection.begin(request._replace(read_timeout=min(request.read_timeout, left_s)), done)
            return
        why = "closed at once" if left_s > 0 else f"no connection within the {MAX_CALL_S:g} s of a call"
        connection.drop()
        done(Failure(ErrorCode.CONNECT, why))

    def _opened(self, done: Done, task: asyncio.Task[None]) -> None:
        """The promise to call `done` is kept even for a connection that was given up before it stood."""
        self._opening.discard(task)
        if task.cancelled():
            done(Failure(ErrorCode.CONNECT, "the client was closed"))


async def ask(client: Client, request: Request) -> Answer | Failure:
    """Send and wait, where it happens rarely."""
    return await answered(lambda done: client.send(request, done))
