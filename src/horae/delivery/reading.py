"""Parses the answers of one connection, one after the other, under fixed limits.

A head has at most 32 KiB and 100 lines, a body 64 KiB in 1,024 pieces, an answer 256 KiB on the wire and ten interim
answers. A body beyond its limit is cut, because its status is known. Everything else beyond a limit is a failure.
"""

import re
from typing import Final, NoReturn

import httptools

from horae.delivery.http import Failure, HttpAnswer
from horae.domain.instances.outcomes import ErrorCode

MAX_HEAD_BYTES: Final = 32 * 1024
MOST_HEADERS: Final = 100
"""Lines of a head, trailers included."""
MAX_KEPT_BODY_BYTES: Final = 64 * 1024
"""Bytes that are kept of a body."""
MOST_PIECES: Final = 1024
"""Pieces of a body: a chunk of one byte takes as much time as one of a thousand bytes."""
MAX_ANSWER_BYTES: Final = 256 * 1024
"""Bytes of an answer on the wire, with chunk sizes, extensions and trailers."""
MOST_INTERIM: Final = 10
"""Interim (1xx) answers before the final one."""
TOO_LONG: Final = f"the head of the answer is longer than {MAX_HEAD_BYTES} bytes or {MOST_HEADERS} lines"
KEPT_FOR: Final = re.compile(r"timeout=(\d{1,6})\b")
"""Finds the seconds in a `Keep-Alive` header."""
LINE_EXTRA_BYTES: Final = 4
"""Bytes of a header line beside name and value: a colon, a space and the line end."""


class _Enough(Exception):
    """Stops the parser in the middle of its input: the rest is not needed."""


class AnswerParser:
    """The parser of one connection, and what it has read since `begin`."""

    __slots__ = (
        "_body",
        "_complete",
        "_cut",
        "_fault",
        "_head_size",
        "_headed",
        "_headers",
        "_interim",
        "_lines",
        "_parser",
        "_pieces",
        "_received",
        "_status",
        "keep",
    )

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self.begin()

    def begin(self) -> None:
        """Forget the last answer and expect a new one."""
        self.keep = False  # whether the connection can serve another request
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._fault: str | None = None
        self._headed = self._complete = self._cut = False
        self._status = self._received = self._lines = self._head_size = self._pieces = self._interim = 0

    def feed(self, data: bytes) -> HttpAnswer | Failure | None:
        """Parse received bytes; return the answer or a failure when it is complete, None before that.

        1. A protocol switch, or bytes that are not HTTP, are a fault, unless the answer is already complete or cut.
        2. A fault is a failure; a complete or cut answer is returned.
        3. An answer that has its head and exceeds `MAX_ANSWER_BYTES` is cut and returned.
        4. A head that exceeds `MAX_HEAD_BYTES` is a failure.
        """
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.keep = False
            if not self._complete:
                self._fault = "the answer switches to a protocol nobody asked for"
        except httptools.HttpParserError as error:
            self.keep = False
            if not (self._complete or self._cut):  # otherwise the bad bytes follow a usable answer
                self._fault = self._fault or f"the answer is not HTTP: {error}"
        if self._fault is not None:
            return Failure(ErrorCode.PROTOCOL, self._fault)
        if self._complete or self._cut:
            return self._answer()
        if self._headed:
            self._cut = self._received > MAX_ANSWER_BYTES
            return self._answer() if self._cut else None
        return Failure(ErrorCode.PROTOCOL, TOO_LONG) if self._received > MAX_HEAD_BYTES else None

    def end(self) -> HttpAnswer | Failure:
        """Return the result of a closed connection: it completes an answer without a length, and breaks any other."""
        if not self._headed:
            return Failure(ErrorCode.PROTOCOL, "the connection was closed before an answer came")
        if "content-length" in self._headers or "transfer-encoding" in self._headers:
            return Failure(ErrorCode.PROTOCOL, "the connection was closed in the middle of the answer")
        return self._answer()

    def keep_alive_s(self) -> float | None:
        """Return for how many seconds the server keeps the connection, if it says so: we should close it first."""
        said = self._headers.get("keep-alive")
        found = None if said is None else KEPT_FOR.search(said)
        return None if found is None else float(found[1])

    def drop(self) -> None:
        """Delete the parser, which holds a reference to this object, after the connection was closed."""
        del self._parser

    def _answer(self) -> HttpAnswer:
        if self._cut:
            self.keep = False
        return HttpAnswer(self._status, self._headers, bytes(self._body), self._cut)

    def _give_up(self, fault: str) -> NoReturn:
        self._fault = fault
        raise _Enough

    def on_message_begin(self) -> None:
        """Parser callback: an answer begins."""
        if self._complete:
            self.keep = False  # a second answer to one request

    def on_header(self, name: bytes, value: bytes) -> None:
        """Parser callback: a header line, or a trailer line after the body."""
        if self._complete:
            return
        self._lines += 1
        self._head_size += len(name) + len(value) + LINE_EXTRA_BYTES
        if self._lines > MOST_HEADERS or self._head_size > MAX_HEAD_BYTES:
            self._give_up(TOO_LONG)
        if not self._headed:  # trailers are ignored
            self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Parser callback: the head is complete."""
        if not self._complete:
            self._headed = True
            self._status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        """Parser callback: a piece of the body."""
        if self._complete:
            return
        self._body += body
        self._pieces += 1
        if len(self._body) > MAX_KEPT_BODY_BYTES or self._pieces > MOST_PIECES:
            del self._body[MAX_KEPT_BODY_BYTES:]
            self._cut = True
            raise _Enough

    def on_message_complete(self) -> None:
        """Parser callback: an answer is complete; one below 200 is an interim answer."""
        if self._complete:
            return
        if self._status >= 200:
            self._complete, self.keep = True, self._parser.should_keep_alive()
            return
        self._interim += 1
        self._headed, self._headers = False, {}
        if self._interim > MOST_INTERIM:
            self._give_up(f"more than {MOST_INTERIM} interim answers and no end")
