"""One connection: one request at a time, its answer handed to a callback. No task, no future, no stream."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Protocol, cast

from horae.delivery.http import Answer, Failure, Origin, Request
from horae.delivery.reading import Reading
from horae.domain.outcomes import ErrorCode

Done = Callable[[Answer | Failure], None]


class Owner(Protocol):
    """Who keeps the connections and is told about each."""

    def made(self, connection: "Connection") -> None:
        """It stands."""

    def free(self, connection: "Connection", seconds: float | None) -> None:
        """It has answered and can be asked again, for so many seconds if the server said so."""

    def lost(self, connection: "Connection") -> None:
        """It is gone."""


class Connection(asyncio.Protocol):
    """Busy between `begin` and its callback, idle otherwise.

    `deadline` (loop time) is when it is given up either way: the owner's ticker calls `expire`.
    """

    __slots__ = ("_done", "_loop", "_owner", "_reading", "_timeout", "_transport", "deadline", "idle", "origin")

    def __init__(self, origin: Origin, owner: Owner, loop: asyncio.AbstractEventLoop) -> None:
        self.origin = origin
        self.deadline = float("inf")
        self.idle = False
        self._owner = owner
        self._loop = loop
        self._reading = Reading()
        self._done: Done | None = None
        self._timeout = 0.0
        self._transport: asyncio.Transport

    @property
    def usable(self) -> bool:
        """Whether a request would be written at all."""
        return not self._transport.is_closing()

    def begin(self, request: Request, done: Done) -> None:
        """Send; `done` is called once, whatever happens."""
        self._done = done
        self._timeout = request.read_timeout
        self.deadline = self._loop.time() + request.read_timeout
        self.idle = False
        self._transport.write(request.data)

    def expire(self) -> None:
        """Its time is up: a busy one fails, an idle one goes."""
        self.fail(ErrorCode.TIMEOUT, f"no whole answer within {self._timeout:g} s")

    def drop(self) -> None:
        """It has answered, and nobody needs it again: the answer is told, and it goes."""
        self._transport.abort()

    def fail(self, code: ErrorCode, message: str) -> None:
        """Give it up, now: nothing that is still to be written or read matters any more."""
        self._transport.abort()
        self._finish(Failure(code, message))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It stands."""
        self._transport = cast(asyncio.Transport, transport)
        self._owner.made(self)

    def data_received(self, data: bytes) -> None:
        """Read on. What comes while nothing was asked is not wanted, and the connection not trusted any more."""
        if self._done is None:
            self._transport.abort()
            return
        result = self._reading.feed(data)
        if result is None:
            return
        if self._reading.keep:
            seconds = self._reading.patience()
            self._reading.begin()
            self._owner.free(self, seconds)
        else:
            self._transport.abort()
        self._finish(result)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone. The request is not sent again: whether it may have been done is for others to judge."""
        self._owner.lost(self)
        if isinstance(exc, ssl.SSLError):
            self._finish(Failure(ErrorCode.TLS, str(exc)))
        else:
            self._finish(self._reading.end())
        self._reading.drop()

    def _finish(self, result: Answer | Failure) -> None:
        done, self._done = self._done, None
        if done is None:
            return
        try:
            done(result)
        except Exception as error:  # the caller's, and no fault of this connection
            self._loop.call_exception_handler({"message": "a delivery's callback failed", "exception": error})
