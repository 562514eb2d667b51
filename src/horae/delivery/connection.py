"""One connection: one request at a time, its answer passed to a callback. No task, no future, no stream."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final, Protocol, cast

from horae.delivery.http import Failure, HttpAnswer, HttpRequest, Origin
from horae.delivery.reading import AnswerParser
from horae.domain.instances.outcomes import ErrorCode

QUIET_S: Final = 30.0
"""Seconds of silence that need no keep-alive: no gateway forgets a connection sooner."""
KEEP_ALIVE_OPTIONS: Final = {"TCP_KEEPIDLE": 30, "TCP_KEEPALIVE": 30, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
"""After 30 s of silence a probe every 15 s; four without an answer end the connection.

An option that the system does not have is left out: macOS has TCP_KEEPALIVE in place of TCP_KEEPIDLE.
"""
KEEP_ALIVE: Final = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in KEEP_ALIVE_OPTIONS.items()
        if hasattr(socket, name)
    ),
)

Done = Callable[[HttpAnswer | Failure], None]


class ConnectionOwner(Protocol):
    """Keeps the connections and is notified about each."""

    def on_open(self, connection: "Connection") -> None:
        """The connection is open."""

    def on_free(self, connection: "Connection", seconds: float | None) -> None:
        """The connection can take the next request, for `seconds` if the server named a time."""

    def on_close(self, connection: "Connection") -> None:
        """The connection is closed."""


class Connection(asyncio.Protocol):
    """A connection that is busy between `begin` and its callback, and idle otherwise.

    `deadline` (loop time) is when it is closed in both states: the owner's ticker calls `expire`.
    """

    __slots__ = ("_done", "_loop", "_owner", "_reading", "_timeout", "_transport", "deadline", "idle", "origin")

    def __init__(self, origin: Origin, owner: ConnectionOwner, loop: asyncio.AbstractEventLoop) -> None:
        self.origin = origin
        self.deadline = float("inf")
        self.idle = False
        self._owner = owner
        self._loop = loop
        self._reading = AnswerParser()
        self._done: Done | None = None
        self._timeout = 0.0
        self._transport: asyncio.Transport

    @property
    def usable(self) -> bool:
        """Whether a request can be written."""
        return not self._transport.is_closing()

    def begin(self, request: HttpRequest, done: Done) -> None:
        """Write a request; `done` is called once, whatever happens."""
        self._done = done
        self._timeout = request.read_timeout
        self.deadline = self._loop.time() + request.read_timeout
        self.idle = False
        if request.read_timeout > QUIET_S:
            self._keep_alive()
        self._transport.write(request.data)

    def _keep_alive(self) -> None:
        """Let TCP probe a connection that is silent for long: it stays known on the way, and a dead peer is noticed."""
        socket_ = self._transport.get_extra_info("socket")
        for level, option, value in KEEP_ALIVE:
            socket_.setsockopt(level, option, value)

    def expire(self) -> None:
        """End a connection whose deadline has passed: the request of a busy one fails."""
        self.fail(ErrorCode.TIMEOUT, f"timed out after {self._timeout:g} s (read_timeout)")

    def drop(self) -> None:
        """Close a connection that has answered and is not needed again; its answer is still reported."""
        self._transport.abort()

    def fail(self, code: ErrorCode, message: str) -> None:
        """Close the connection now and fail its request; data that is not yet written or read is dropped."""
        self._transport.abort()
        self._finish(Failure(code, message))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register with the owner."""
        self._transport = cast(asyncio.Transport, transport)
        self._owner.on_open(self)

    def data_received(self, data: bytes) -> None:
        """Feed the parser. Data without a request is unexpected: such a connection is closed."""
        if self._done is None:
            self._transport.abort()
            return
        result = self._reading.feed(data)
        if result is None:
            return
        if self._reading.keep:
            seconds = self._reading.keep_alive_s()
            self._reading.begin()
            self._owner.on_free(self, seconds)
        else:
            self._transport.abort()
        self._finish(result)

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the result. The request is not sent again: the receiver may have processed it."""
        self._owner.on_close(self)
        if isinstance(exc, ssl.SSLError):
            self._finish(Failure(ErrorCode.TLS, str(exc)))
        else:
            self._finish(self._reading.end())
        self._reading.drop()

    def _finish(self, result: HttpAnswer | Failure) -> None:
        done, self._done = self._done, None
        if done is None:
            return
        try:
            done(result)
        except Exception as error:  # the callback's error must not break this connection
            self._loop.call_exception_handler({"message": "a delivery's callback failed", "exception": error})
