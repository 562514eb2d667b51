"""The HTTP server's connections, bounded before anything of a request is understood.

A head of at most 32 KiB and 100 lines, whole within ten seconds; a body that comes at a kilobyte a second at least,
after a minute's patience; so many connections at once, and of one address only a part of them. Whoever asks for more is
told why where that is cheap (431, 408), and hung up on.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, NamedTuple

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

MAX_HEAD_BYTES: Final = 32 * 1024
MAX_HEAD_LINES: Final = 100
HEAD_TIMEOUT_S: Final = 10.0
BODY_PATIENCE_S: Final = 60.0
MIN_BODY_BYTES_PER_S: Final = 1024
BODY_CHECK_S: Final = 15.0
LINE_EXTRA_BYTES: Final = 4
"""A colon, a space and the end of the line."""
TOO_LONG: Final = "The head of the request is too long."


class ConnectionLimits(NamedTuple):
    """How many connections a process has at once, and how many of them one address may have.

    `is_proxy` says which addresses may have all of them: a proxy speaks for many.
    """

    total: int
    of_one: int
    is_proxy: Callable[[str], bool] = lambda _address: False


class Part(Enum):
    """What of a request is expected next."""

    NOTHING = "nothing"
    HEAD = "head"
    BODY = "body"


class TooMuch(Exception):
    """Makes the parser stop in the middle of a head: the rest of it is not read."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection, with one timer: for its head, then for its body. An idle one is the library's to close."""

    limits: ConnectionLimits
    by_address: Counter[str]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it, and wait for its head; one too many is closed at once."""
        super().connection_made(transport)
        self._part = Part.NOTHING
        self._refused = False
        self._raw_bytes = self._head_bytes = self._head_lines = self._body_bytes = 0
        self._body_began = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._address = self.client[0] if self.client else ""
        self.by_address[self._address] += 1
        crowd = self.by_address[self._address] > self.limits.of_one and not self.limits.is_proxy(self._address)
        if crowd or len(self.connections) > self.limits.total:
            self._refused = True
            transport.abort()
        else:
            self._timer = self.loop.call_later(HEAD_TIMEOUT_S, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._stop_timer()
        self.by_address[self._address] -= 1
        if not self.by_address[self._address]:
            del self.by_address[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, as long as what comes is within its bounds."""
        if self._refused:
            return
        if self._part is Part.BODY:
            self._body_bytes += len(data)
        super().data_received(data)
        if self._refused or self.transport.is_closing():
            return
        if self._part is Part.HEAD:
            self._raw_bytes += len(data)
            if self._raw_bytes > MAX_HEAD_BYTES:  # one line that never ends is not told to us
                self._refuse(431, TOO_LONG)
                return
        if self._timer is None:
            self._set_timer()

    def on_message_begin(self) -> None:
        """The parser: a request begins."""
        self._part = Part.HEAD
        self._raw_bytes = self._head_bytes = self._head_lines = self._body_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """The parser: a piece of the address."""
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """The parser: a line of the head, or of the trailers behind the body, which nobody reads."""
        self._head_lines += 1
        self._count_head(len(name) + len(value) + LINE_EXTRA_BYTES)
        if self._part is Part.HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The parser: the head is over."""
        self._part = Part.BODY
        self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The parser: the request is whole."""
        self._part = Part.NOTHING
        self._stop_timer()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """The parser stopped: it could not read on, or we had enough and said so."""
        self._stop_timer()
        if not self._refused:
            super().send_400_response(msg)

    @property
    def _answering(self) -> bool:
        """Whether a request that came before is still answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_lines > MAX_HEAD_LINES or self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(431, TOO_LONG)
            raise TooMuch

    def _set_timer(self) -> None:
        """Wait for the rest of what has begun; while a request is answered nobody has to say anything."""
        if self._part is Part.BODY:
            self._body_began = self.loop.time()
            self._timer = self.loop.call_later(BODY_CHECK_S, self._check_body)
        elif self._part is Part.HEAD or not self._answering:
            self._timer = self.loop.call_later(HEAD_TIMEOUT_S, self._give_up)

    def _check_body(self) -> None:
        """Go on waiting as long as the body comes, or the application lets it wait."""
        earned_s = BODY_PATIENCE_S + self._body_bytes / MIN_BODY_BYTES_PER_S
        if self.flow.read_paused or self.loop.time() - self._body_began < earned_s:
            self._timer = self.loop.call_later(BODY_CHECK_S, self._check_body)
        else:
            self._give_up()

    def _give_up(self) -> None:
        self._timer = None
        if self._part is Part.HEAD:
            self._refuse(408, "The request took too long to come.")
        else:
            self.transport.abort()

    def _refuse(self, status: int, text: str) -> None:
        """Say why where no other answer is under way, and hang up: whatever else was sent is not read."""
        self._refused = True
        self._stop_timer()
        if self._answering:
            self.transport.abort()
            return
        lines = [b"content-type: text/plain; charset=utf-8", b"content-length: %d" % len(text), b"connection: close"]
        self.transport.write(STATUS_LINE[status] + b"\r\n".join([*lines, b"", text.encode()]))
        self.transport.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def protocol_of(limits: ConnectionLimits) -> type[BoundedProtocol]:
    """The connections of one server, counted together."""
    shared: dict[str, Any] = {"limits": limits, "by_address": Counter()}
    return type("BoundedProtocol", (BoundedProtocol,), shared)
