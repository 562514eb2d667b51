"""HTTP requests and answers as plain values. A request without an answer is a value too: `Failure`."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from horae.delivery.tls import Identity
from horae.domain.instances.outcomes import ErrorCode, FailedProbe, Outcome, Retryable, Unrecoverable
from horae.domain.targets.egress import Egress

USER_AGENT: Final = "horae"


class Origin(NamedTuple):
    """Where a connection leads, with which TLS identity, and under which egress rules.

    Only requests with equal origins share connections. `egress` holds a tenant's own rules; None: the rules of the
    deployment apply.
    """

    secure: bool
    host: str
    port: int
    identity: Identity | None = None
    egress: Egress | None = None


class HttpRequest(NamedTuple):
    """The bytes of one request and where they go. Timeouts are in seconds; `read_timeout` covers the whole answer.

    `owner` is the tenant of the request, None for the deployment itself. Places for lookups and TLS contexts are shared
    out by owner.
    """

    origin: Origin
    data: bytes
    connect_timeout: float
    read_timeout: float
    owner: UUID | None = None


class HttpAnswer(NamedTuple):
    """An answer; header names are in lower case. `cut`: the body was longer than what we keep."""

    status: int
    headers: dict[str, str]
    body: bytes
    cut: bool = False


class Failure(NamedTuple):
    """A request without an answer, and why.

    CONNECT and REFUSED: nothing was sent. TIMEOUT and PROTOCOL: the receiver may have processed the request. `counted`
    is False where we lacked a place of our own, which says nothing about the target.
    """

    code: ErrorCode
    message: str
    counted: bool = True


def outcome_of_failure(failure: Failure, about: str = "") -> Outcome:
    """Turn a failure into an outcome: retryable, unless our rules refuse the target."""
    if not failure.counted:
        return FailedProbe(failure.code, about + failure.message)
    kind = Unrecoverable if failure.code == ErrorCode.REFUSED else Retryable
    return kind(failure.code, about + failure.message)


class UrlParts(NamedTuple):
    """A parsed URL: its origin, the value of `Host`, and the path of the request line."""

    origin: Origin
    host: str
    path: str


def parse_url(url: str, identity: Identity | None = None) -> UrlParts:
    """Parse an http or https URL. The part before an @ and the part after a # are never sent."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    origin = Origin(secure, parts.hostname or "", parts.port or (443 if secure else 80), identity)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return UrlParts(origin, parts.netloc.rpartition("@")[2], path)


@lru_cache(maxsize=10_000)
def host_of(url: str) -> str:
    """Return the host of a URL."""
    return urlsplit(url).hostname or ""


def head(method: str, place: UrlParts, headers: Mapping[str, str]) -> bytes:
    """Return the request line and headers, without the empty line that ends them."""
    lines = [f"{method} {place.path} HTTP/1.1", f"Host: {place.host}", "Accept-Encoding: identity"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n").encode()


def build_request(
    method: str,
    place: UrlParts,
    headers: Mapping[str, str],
    body: bytes,
    connect_timeout: float,
    read_timeout: float,
    owner: UUID | None = None,
) -> HttpRequest:
    """Build a whole request; for calls that are not made at every fire."""
    sized = {"User-Agent": USER_AGENT, **headers, "Content-Length": str(len(body))}
    return HttpRequest(place.origin, head(method, place, sized) + b"\r\n" + body, connect_timeout, read_timeout, owner)
