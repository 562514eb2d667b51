"""Limits of the connections of the HTTP server, before a request is parsed.

A head has at most 32 KiB and 100 lines, and is complete within ten seconds. A body arrives with at least one kilobyte
per second, after a minute of grace. A response is read with at least one kilobyte per second, with the same grace. The
number of connections is limited, in total and per host. A client that exceeds a limit gets a short response where that
is cheap (431, 408), and its connection is closed.
"""

import asyncio
import fcntl
import termios
from collections import Counter
from collections.abc import Callable
from enum import Enum
from struct import Struct
from typing import Any, Final, NamedTuple

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from horae.api.addresses import host_of, plain_address

MAX_HEAD_BYTES: Final = 32 * 1024
MAX_HEAD_LINES: Final = 100
HEAD_TIMEOUT_S: Final = 10.0
BODY_PATIENCE_S: Final = 60.0
MIN_BODY_BYTES_PER_S: Final = 1024
BODY_CHECK_S: Final = 15.0
MIN_READ_BYTES_PER_S: Final = 1024
WRITE_CHECK_S: Final = 15.0
MAX_IDLE_WRITE_CHECKS: Final = 4
"""Checks in a row that find an answer read too slowly, before its connection is cut: a minute."""
LINE_EXTRA_BYTES: Final = 4
"""The colon, the space and the end of the line."""
SIZE: Final = Struct("i")
TOO_LONG: Final = "The head of the request is too long."


class ConnectionLimits(NamedTuple):
    """The maximum number of connections of a process, and of one host.

    `is_proxy` returns whether an address has no limit of its own: a proxy sends requests of many clients.
    """

    total: int
    of_one: int
    is_proxy: Callable[[str], bool] = lambda _address: False


class RequestPart(Enum):
    """The part of a request that is expected next."""

    NOTHING = "nothing"
    HEAD = "head"
    BODY = "body"


class HeadTooLarge(Exception):
    """Stops the parser in the middle of a head: the rest is not read."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection, with a timer for the head, then for the body, and a timer for a response that is not read.

    The library closes idle connections.
    """

    limits: ConnectionLimits
    by_host: Counter[str]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection and wait for a head. A connection over the limit is closed at once."""
        super().connection_made(transport)
        self._part = RequestPart.NOTHING
        self._refused = False
        self._raw_bytes = self._head_bytes = self._head_lines = self._body_bytes = 0
        self._body_began = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._unsent_bytes = self._idle_write_checks = 0
        address = plain_address(self.client[0]) if self.client else ""
        if self.client:
            self.client = address, self.client[1]
        self._host = host_of(address)
        self.by_host[self._host] += 1
        crowd = self.by_host[self._host] > self.limits.of_one and not self.limits.is_proxy(address)
        if crowd or len(self.connections) > self.limits.total:
            self._refused = True
            transport.abort()
        else:
            self._timer = self.loop.call_later(HEAD_TIMEOUT_S, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the counts."""
        self._stop_timer()
        self._stop_write_timer()
        self.by_host[self._host] -= 1
        if not self.by_host[self._host]:
            del self.by_host[self._host]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read data within the limits."""
        if self._refused:
            return
        if self._part is RequestPart.BODY:
            self._body_bytes += len(data)
        super().data_received(data)
        if self._refused or self.transport.is_closing():
            return
        if self._part is RequestPart.HEAD:
            self._raw_bytes += len(data)
            if self._raw_bytes > MAX_HEAD_BYTES:  # the parser does not report a line that never ends
                self._refuse(431, TOO_LONG)
                return
        if self._timer is None:
            self._set_timer()

    def on_message_begin(self) -> None:
        """The parser: a request begins."""
        self._part = RequestPart.HEAD
        self._raw_bytes = self._head_bytes = self._head_lines = self._body_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """The parser: a piece of the address."""
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """The parser: a line of the head, or of the trailers after the body, which are not used."""
        self._head_lines += 1
        self._count_head(len(name) + len(value) + LINE_EXTRA_BYTES)
        if self._part is RequestPart.HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The parser: the head is complete."""
        self._part = RequestPart.BODY
        self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The parser: the request is complete."""
        self._part = RequestPart.NOTHING
        self._stop_timer()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """The parser stopped: because of invalid data, or because a limit was exceeded and answered."""
        self._stop_timer()
        if not self._refused:
            super().send_400_response(msg)
            self._watch_writing()

    def pause_writing(self) -> None:
        """The transport: its write buffer is full."""
        super().pause_writing()
        self._watch_writing()

    def on_response_complete(self) -> None:
        """The library: the response is in the transport."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._watch_writing()

    def timeout_keep_alive_handler(self) -> None:
        """The library: the connection is idle. Unsent data keeps it open."""
        super().timeout_keep_alive_handler()
        self._watch_writing()

    @property
    def _answering(self) -> bool:
        """Whether the response to an earlier request is not complete yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_lines > MAX_HEAD_LINES or self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(431, TOO_LONG)
            raise HeadTooLarge

    def _set_timer(self) -> None:
        """Set the timer for the rest of the request. No timer runs while a request is being answered."""
        if self._part is RequestPart.BODY:
            self._body_began = self.loop.time()
            self._timer = self.loop.call_later(BODY_CHECK_S, self._check_body)
        elif self._part is RequestPart.HEAD or not self._answering:
            self._timer = self.loop.call_later(HEAD_TIMEOUT_S, self._give_up)

    def _check_body(self) -> None:
        """Wait while the body arrives fast enough, or while the application has paused reading."""
        earned_s = BODY_PATIENCE_S + self._body_bytes / MIN_BODY_BYTES_PER_S
        if self.flow.read_paused or self.loop.time() - self._body_began < earned_s:
            self._timer = self.loop.call_later(BODY_CHECK_S, self._check_body)
        else:
            self._give_up()

    def _give_up(self) -> None:
        self._timer = None
        if self._part is RequestPart.HEAD:
            self._refuse(408, "The request took too long to arrive.")
        else:
            self.transport.abort()

    def _refuse(self, status: int, text: str) -> None:
        """Send the reason, unless another response is in progress, and close the connection without reading more."""
        self._refused = True
        self._stop_timer()
        if self._answering:
            self.transport.abort()
            return
        lines = [b"content-type: text/plain; charset=utf-8", b"content-length: %d" % len(text), b"connection: close"]
        self.transport.write(STATUS_LINE[status] + b"\r\n".join([*lines, b"", text.encode()]))
        self.transport.close()
        self._watch_writing()

    def _watch_writing(self) -> None:
        """Start to check that the unsent data decreases."""
        if self._write_timer is None:
            self._unsent_bytes, self._idle_write_checks = self._count_unsent(), 0
            self._write_timer = self.loop.call_later(WRITE_CHECK_S, self._check_writing)

    def _check_writing(self) -> None:
        """Close the connection of a client that does not read: nothing else would end it."""
        self._write_timer = None
        if not self.transport.get_write_buffer_size():  # the kernel has all data
            return
        before, self._unsent_bytes = self._unsent_bytes, self._count_unsent()
        is_read = before - self._unsent_bytes >= MIN_READ_BYTES_PER_S * WRITE_CHECK_S
        self._idle_write_checks = 0 if is_read else self._idle_write_checks + 1
        if self._idle_write_checks < MAX_IDLE_WRITE_CHECKS:
            self._write_timer = self.loop.call_later(WRITE_CHECK_S, self._check_writing)
        else:
            self.transport.abort()

    def _count_unsent(self) -> int:
        """Returns the bytes that the client has not read. The kernel buffers megabytes, and takes more in steps."""
        try:
            queued = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(SIZE.size))
        except (OSError, ValueError):  # closed meanwhile, or a system that does not tell
            queued = bytes(SIZE.size)
        return self.transport.get_write_buffer_size() + int(SIZE.unpack(queued)[0])

    def resume_writing(self) -> None:
        """The transport: most of its write buffer is sent."""
        self._stop_write_timer()
        super().resume_writing()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def protocol_of(limits: ConnectionLimits) -> type[BoundedProtocol]:
    """Returns the protocol class of one server, which counts its connections together."""
    shared: dict[str, Any] = {"limits": limits, "by_host": Counter()}
    return type("BoundedProtocol", (BoundedProtocol,), shared)
