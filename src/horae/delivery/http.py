"""What goes over the wire and what comes back, as plain values. A request that came to nothing is a value too."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from horae.delivery.tls import Identity
from horae.domain.egress import Egress
from horae.domain.outcomes import ErrorCode, Outcome, Probed, Retryable, Unrecoverable

USER_AGENT: Final = "horae"


class Origin(NamedTuple):
    """Where a connection leads, as whom and by which rules: requests of one origin share connections, others never do.

    `egress` is a tenant's own rules, None where the deployment's hold.
    """

    secure: bool
    host: str
    port: int
    identity: Identity | None = None
    egress: Egress | None = None


class Request(NamedTuple):
    """The bytes of one request and where they go. `read_timeout` is for the whole answer, to its last byte.

    `owner` is the tenant that asks for it, None where the deployment does: who asks for much waits for itself alone.
    """

    origin: Origin
    data: bytes
    connect_timeout: float
    read_timeout: float
    owner: UUID | None = None


class Answer(NamedTuple):
    """What came back; header names are lower case. `cut`: its body was longer than what we keep."""

    status: int
    headers: dict[str, str]
    body: bytes
    cut: bool = False


class Failure(NamedTuple):
    """No answer. CONNECT and REFUSED say that nothing was sent; after TIMEOUT and PROTOCOL it may have been done.

    One that is not `counted` was for want of a place of ours, and says nothing about the target.
    """

    code: ErrorCode
    message: str
    counted: bool = True


def failed(failure: Failure, about: str = "") -> Outcome:
    """What no answer means for the attempt: trying again may help, unless we are not allowed to."""
    if not failure.counted:
        return Probed(failure.code, about + failure.message)
    kind = Unrecoverable if failure.code == ErrorCode.REFUSED else Retryable
    return kind(failure.code, about + failure.message)


class Place(NamedTuple):
    """A URL, taken apart: its origin, the value of `Host`, and what the request line asks for."""

    origin: Origin
    host: str
    path: str


def place_of(url: str, identity: Identity | None = None) -> Place:
    """Take an http or https URL apart. What is before an @ and after a # is never sent."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    origin = Origin(secure, parts.hostname or "", parts.port or (443 if secure else 80), identity)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Place(origin, parts.netloc.rpartition("@")[2], path)


@lru_cache(maxsize=10_000)
def host_of(url: str) -> str:
    """The host that a URL leads to."""
    return urlsplit(url).hostname or ""


def head(method: str, place: Place, headers: Mapping[str, str]) -> bytes:
    """The request line and these headers, without the empty line that ends them."""
    lines = [f"{method} {place.path} HTTP/1.1", f"Host: {place.host}", "Accept-Encoding: identity"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n").encode()


def compose(
    method: str,
    place: Place,
    headers: Mapping[str, str],
    body: bytes,
    connect_timeout: float,
    read_timeout: float,
    owner: UUID | None = None,
) -> Request:
    """A whole request, for callers that are not in a hurry."""
    sized = {"User-Agent": USER_AGENT, **headers, "Content-Length": str(len(body))}
    return Request(place.origin, head(method, place, sized) + b"\r\n" + body, connect_timeout, read_timeout, owner)
