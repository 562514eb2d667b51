"""Requests and answers without I/O: what to send, and what an answer means.

A `Request` is a value. `read` converts an answer to the requested type, or raises. `Client` and `AsyncClient` only send
requests; any other HTTP library can do the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, TypeVar, cast
from urllib.parse import quote

import msgspec

from horae_client.errors import Unreadable, refusal

T = TypeVar("T")
PREFIX: Final = "/api/v1"
PROBLEM: Final = "application/problem+json"
LINES: Final = "application/x-ndjson"
CODE: Final = "SCH_"
MAX_BODY_BYTES: Final = 200_000
"""The maximum size of the items in one request; the server reads 256 KiB."""
MAX_RETRY_AFTER_S: Final = 60.0
"""The longest time that a worker waits, whatever a proxy asks for."""
encode: Final = msgspec.json.Encoder().encode


NO_JSON: Final = (msgspec.MsgspecError, ValueError, RecursionError)
"""Errors of the JSON reader: invalid bytes raise `UnicodeDecodeError`, which is a `ValueError`."""


@dataclass(frozen=True)
class Request(Generic[T]):
    """What to ask, and the type of the answer.

    `again`: it is safe to repeat the request even if it may have taken effect. `key` makes it safe; it stays the same
    for all retries. `also_reads` are statuses besides 2xx whose body is the answer, too. A body of bytes is sent as it
    is, with one JSON value per line.
    """

    method: str
    path: str
    reads: type[T]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    key: str | None = None
    again: bool = True
    also_reads: tuple[int, ...] = ()

    def headers(self) -> dict[str, str]:
        """The headers of this request alone."""
        made = {"Accept": "application/json"}
        if self.body is not None:
            made["Content-Type"] = LINES if isinstance(self.body, bytes) else "application/json"
        if self.key is not None:
            made["Idempotency-Key"] = ascii_only(self.key, "idempotency key")
        return made

    def content(self) -> bytes | None:
        """The encoded body."""
        return self.body if self.body is None or isinstance(self.body, bytes) else encode(self.body)


def path(*parts: str) -> str:
    """A path of names and keys with any characters.

    >>> from horae_client.wire import path
    >>> path("tasks", "ARTICLE_PUBLISH", "a/b c")
    '/api/v1/tasks/ARTICLE_PUBLISH/a%2Fb%20c'
    """
    return "/".join([PREFIX, *(_part(part) for part in parts)])


def _part(text: str) -> str:
    """One part of a path. A part of dots alone would mean the parent folder, so it is quoted."""
    return text.replace(".", "%2E") if text in {".", ".."} else quote(text, safe="")


def aware(moment: datetime | None) -> datetime | None:
    """A time with an offset. A naive time raises, because its meaning would be a guess.

    >>> from datetime import datetime
    >>> from horae_client.wire import aware
    >>> aware(datetime(2035, 1, 1, 9))
    Traceback (most recent call last):
        ...
    ValueError: 2035-01-01 09:00:00 has no offset: say datetime(..., tzinfo=UTC) or another zone

    A text is not parsed, because it may have no offset:

    >>> aware("2035-01-01T09:00:00Z")
    Traceback (most recent call last):
        ...
    ValueError: '2035-01-01T09:00:00Z' is no datetime: say datetime.fromisoformat('2035-01-01T09:00:00Z')
    """
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        hint = f": say datetime.fromisoformat({moment!r})" if isinstance(moment, str) else ""
        raise ValueError(f"{moment!r} is no datetime{hint}")
    if moment.utcoffset() is None:
        raise ValueError(f"{moment} has no offset: say datetime(..., tzinfo=UTC) or another zone")
    return moment


def ascii_only(text: str, what: str) -> str:
    """A text that can be sent in a header; an ellipsis copied from a page cannot.

    >>> from horae_client.wire import ascii_only
    >>> ascii_only("horae_…", "API key")
    Traceback (most recent call last):
        ...
    ValueError: the API key has '…' in it, which no header can carry: was it copied from an example?
    """
    strange = next((letter for letter in text if not (letter.isascii() and letter.isprintable())), None)
    if strange is not None:
        raise ValueError(f"the {what} has {strange!r} in it, which no header can carry: was it copied from an example?")
    return text


def said(**fields: Any) -> dict[str, Any]:
    """A body or a query without the fields that are None or unset."""
    return {name: value for name, value in fields.items() if value is not None and value is not msgspec.UNSET}


def portions(items: Iterable[T], most: int) -> Iterator[list[T]]:
    """Lists that fit into one request: at most `most` items, and not more bytes than the server reads.

    >>> from horae_client.wire import portions
    >>> [len(part) for part in portions(["x" * 90_000] * 5, 1000)]
    [2, 2, 1]
    """
    part: list[T] = []
    size = 0
    for one in items:
        bytes_ = len(encode(one)) + 1
        if part and (len(part) == most or size + bytes_ > MAX_BODY_BYTES):
            yield part
            part, size = [], 0
        part.append(one)
        size += bytes_
    if part:
        yield part


def read(request: Request[T], status: int, headers: Mapping[str, str], body: bytes) -> T:
    """Convert an answer to the requested type.

    Raises the `Refused` of its problem, or `Unreadable` for an answer without a code of Horae, whatever its status.

    >>> from horae_client import wire
    >>> wire.read(wire.Request("GET", "/healthz", dict), 200, {}, b'{"status": "up"}')
    {'status': 'up'}
    """
    if 200 <= status < 300 or status in request.also_reads:
        return _value(request.reads, body)
    wait = _seconds(headers.get("retry-after"))
    try:
        problem = msgspec.json.decode(body, type=dict[str, Any])
    except NO_JSON:
        problem = {}
    if not str(problem.get("code", "")).startswith(CODE):  # from a proxy: it says nothing about the request
        text = body[:200].decode(errors="replace")
        raise Unreadable(f"an answer that is not Horae's: {status} {text}", status, wait)
    raise refusal(status, problem, wait)


def read_event(request: Request[T], data: str) -> T:
    """Convert the data of an event to the requested type."""
    return _value(request.reads, data.encode())


def _value(kind: type[T], body: bytes) -> T:
    if kind is type(None):
        return None
    try:
        return cast("T", body.decode()) if kind is str else msgspec.json.decode(body, type=kind)
    except NO_JSON as error:
        raise Unreadable(f"an answer that cannot be read: {error}") from error


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None
