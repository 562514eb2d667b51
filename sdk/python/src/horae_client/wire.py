"""Requests and answers without any input or output: what to say, and what an answer means.

A `Request` is a value; `read` turns what came back into what was asked for, or raises. `Client` and `AsyncClient` only
carry these; so can anything else that speaks HTTP.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote

import msgspec

from horae_client.errors import Unreadable, refusal

T = TypeVar("T")
PREFIX: Final = "/api/v1"
PROBLEM: Final = "application/problem+json"
CODE: Final = "SCH_"
MAX_BODY_BYTES: Final = 200_000
"""Of the items in one request; the server reads 256 KiB."""
MAX_RETRY_AFTER_S: Final = 60.0
"""A worker waits no longer, whatever a page of a proxy says."""
encode: Final = msgspec.json.Encoder().encode


NO_JSON: Final = (msgspec.MsgspecError, ValueError, RecursionError)
"""Whatever a body makes the reader raise: bad bytes are a `UnicodeDecodeError`, which is a `ValueError`."""


@dataclass(frozen=True)
class Request(Generic[T]):
    """What to ask, and what the answer will be.

    `again`: asking once more is safe although nobody knows whether the first was done. `key` makes it so; it is made
    once and stays the same however often the request is sent.
    """

    method: str
    path: str
    reads: type[T]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    key: str | None = None
    again: bool = True

    def headers(self) -> dict[str, str]:
        """The headers of this request alone."""
        made = {"Accept": "application/json"}
        if self.body is not None:
            made["Content-Type"] = "application/json"
        if self.key is not None:
            made["Idempotency-Key"] = ascii_only(self.key, "idempotency key")
        return made

    def content(self) -> bytes | None:
        """The body as it goes out."""
        return None if self.body is None else encode(self.body)


def path(*parts: str) -> str:
    """A path out of names and keys, whatever is in them.

    >>> from horae_client.wire import path
    >>> path("tasks", "ARTICLE_PUBLISH", "a/b c")
    '/api/v1/tasks/ARTICLE_PUBLISH/a%2Fb%20c'
    """
    return "/".join([PREFIX, *(_part(part) for part in parts)])


def _part(text: str) -> str:
    """One part of a path. Nothing but dots would be taken for a way up."""
    return text.replace(".", "%2E") if text in {".", ".."} else quote(text, safe="")


def aware(moment: datetime | None) -> datetime | None:
    """A time that says where it is meant; a naive one would be somebody's guess.

    >>> from datetime import datetime
    >>> from horae_client.wire import aware
    >>> aware(datetime(2035, 1, 1, 9))
    Traceback (most recent call last):
        ...
    ValueError: 2035-01-01 09:00:00 has no offset: say datetime(..., tzinfo=UTC) or another zone

    A text is not read, because nobody would say what it means where it has no offset:

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
    """A text that can go out as a header; an ellipsis copied from a page cannot.

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
    """A body or a query of what was given: what is None or unset is left out."""
    return {name: value for name, value in fields.items() if value is not None and value is not msgspec.UNSET}


def portions(items: Iterable[T], most: int) -> Iterator[list[T]]:
    """Items in lists that one request may carry: at most so many, and no more bytes than the server reads.

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
    """What was asked for, out of an answer.

    Raises the `Refused` that its problem stands for, and `Unreadable` for what is not Horae's answer: one without a
    code of ours, whatever its status.

    >>> from horae_client import wire
    >>> wire.read(wire.Request("GET", "/healthz", dict), 200, {}, b'{"status": "up"}')
    {'status': 'up'}
    """
    if 200 <= status < 300:
        return _value(request.reads, body)
    wait = _seconds(headers.get("retry-after"))
    try:
        problem = msgspec.json.decode(body, type=dict[str, Any])
    except NO_JSON:
        problem = {}
    if not str(problem.get("code", "")).startswith(CODE):  # a proxy's: it says nothing about what was asked for
        text = body[:200].decode(errors="replace")
        raise Unreadable(f"an answer that is not Horae's: {status} {text}", status, wait)
    raise refusal(status, problem, wait)


def _value(kind: type[T], body: bytes) -> T:
    if kind is type(None):
        return None
    try:
        return msgspec.json.decode(body, type=kind)
    except NO_JSON as error:
        raise Unreadable(f"an answer that cannot be read: {error}") from error


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None
