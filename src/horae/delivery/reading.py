"""One answer after the other from one connection, read under limits that no server can talk us out of.

A head of at most 32 KiB and 100 lines, 64 KiB of body in 1,024 pieces, 256 KiB on the wire, ten interim answers. A
longer body is cut, because its status line was heard; everything else beyond a limit is no answer.
"""

import re
from typing import Final, NoReturn

import httptools

from horae.delivery.http import Answer, Failure
from horae.domain.outcomes import ErrorCode

LONGEST_HEAD: Final = 32 * 1024
MOST_HEADERS: Final = 100
LONGEST_BODY: Final = 64 * 1024
MOST_PIECES: Final = 1024  # a chunk of one byte costs us as much time as one of a thousand
MOST_HEARD: Final = 256 * 1024  # chunk sizes, extensions and trailers count here
MOST_INTERIM: Final = 10
TOO_LONG: Final = f"the head of the answer is longer than {LONGEST_HEAD} bytes or {MOST_HEADERS} lines"
KEPT_FOR: Final = re.compile(r"timeout=(\d{1,6})\b")
LINE_EXTRA: Final = 4  # a colon, a space and the end of the line


class _Enough(Exception):
    """Makes the parser stop in the middle of what it was given: the rest is not worth its time."""


class Reading:
    """The parser of one connection and what it has called out since `begin`."""

    __slots__ = (
        "_body",
        "_complete",
        "_cut",
        "_fault",
        "_head_size",
        "_headed",
        "_headers",
        "_heard",
        "_interim",
        "_lines",
        "_parser",
        "_pieces",
        "_status",
        "keep",
    )

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self.begin()

    def begin(self) -> None:
        """Forget the last answer; a new one is expected."""
        self.keep = False  # whether the connection can serve another request
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._fault: str | None = None
        self._headed = self._complete = self._cut = False
        self._status = self._heard = self._lines = self._head_size = self._pieces = self._interim = 0

    def feed(self, data: bytes) -> Answer | Failure | None:
        """Take what came; None while the answer goes on."""
        self._heard += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.keep = False
            if not self._complete:
                self._fault = "the answer switches to a protocol nobody asked for"
        except httptools.HttpParserError as error:
            self.keep = False
            if not (self._complete or self._cut):  # else it is the rubbish behind an answer that cannot be read
                self._fault = self._fault or f"the answer is not HTTP: {error}"
        if self._fault is not None:
            return Failure(ErrorCode.PROTOCOL, self._fault)
        if self._complete or self._cut:
            return self._answer()
        if self._headed:
            self._cut = self._heard > MOST_HEARD
            return self._answer() if self._cut else None
        return Failure(ErrorCode.PROTOCOL, TOO_LONG) if self._heard > LONGEST_HEAD else None

    def end(self) -> Answer | Failure:
        """The connection was closed: that ends an answer of unknown length, and cuts off any other."""
        if not self._headed:
            return Failure(ErrorCode.PROTOCOL, "the connection was closed before an answer came")
        if "content-length" in self._headers or "transfer-encoding" in self._headers:
            return Failure(ErrorCode.PROTOCOL, "the connection was closed in the middle of the answer")
        return self._answer()

    def patience(self) -> float | None:
        """How long the server says it keeps the connection: many close after five seconds, and we should be first."""
        said = self._headers.get("keep-alive")
        found = None if said is None else KEPT_FOR.search(said)
        return None if found is None else float(found[1])

    def drop(self) -> None:
        """The connection is gone; parser and reading let go of each other."""
        del self._parser

    def _answer(self) -> Answer:
        if self._cut:
            self.keep = False
        return Answer(self._status, self._headers, bytes(self._body), self._cut)

    def _give_up(self, fault: str) -> NoReturn:
        self._fault = fault
        raise _Enough

    def on_message_begin(self) -> None:
        """The parser: an answer begins."""
        if self._complete:
            self.keep = False  # nobody asked for a second answer

    def on_header(self, name: bytes, value: bytes) -> None:
        """The parser: a line of the head, or of the trailers behind the body."""
        if self._complete:
            return
        self._lines += 1
        self._head_size += len(name) + len(value) + LINE_EXTRA
        if self._lines > MOST_HEADERS or self._head_size > LONGEST_HEAD:
            self._give_up(TOO_LONG)
        if not self._headed:  # trailers change nothing
            self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The parser: the head is over."""
        if not self._complete:
            self._headed = True
            self._status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        """The parser: a piece of the body."""
        if self._complete:
            return
        self._body += body
        self._pieces += 1
        if len(self._body) > LONGEST_BODY or self._pieces > MOST_PIECES:
            del self._body[LONGEST_BODY:]
            self._cut = True
            raise _Enough

    def on_message_complete(self) -> None:
        """The parser: an answer is over, perhaps an interim one."""
        if self._complete:
            return
        if self._status >= 200:
            self._complete, self.keep = True, self._parser.should_keep_alive()
            return
        self._interim += 1
        self._headed, self._headers = False, {}
        if self._interim > MOST_INTERIM:
            self._give_up(f"more than {MOST_INTERIM} interim answers and no end")
