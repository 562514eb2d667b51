"""A job version, ready to be sent: what is the same at every fire is bytes already."""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from horae.delivery.auth import Access
from horae.delivery.http import USER_AGENT, Origin, Request, head, place_of
from horae.delivery.secrets import Unsendable
from horae.delivery.signing import sign
from horae.domain.calls import Call, call_of, completion_of
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.outcomes import ErrorCode
from horae.domain.targets import HttpTarget
from horae.domain.templates import Fill, compiled, compiled_text
from horae.domain.tokens import traceparent
from horae.domain.urls import sendable
from horae.runtime.chance import span

ENCODE: Final = msgspec.json.Encoder().encode
USUAL: Final = {"User-Agent": USER_AGENT, "Content-Type": "application/json"}
MOST_FORMS: Final = 10_000
PLAIN: Final = "!\"#$&'()*+,/:;<=>?@[\\]^`{|}"


class Form:
    """What is the same for all jobs with one target."""

    def __init__(self, target: HttpTarget) -> None:
        given = {name.lower() for name in target.headers}
        usual = {name: value for name, value in USUAL.items() if name.lower() not in given}
        self.query = None if _still(target.query) == target.query else _Query(target.query)
        place = place_of(target.url)
        self.origin = place.origin
        path = place.path if self.query else place.path + _joined(place.path, _encoded(target.query))
        self.head = head(target.method, place._replace(path=path), {**usual, **_still(target.headers)})
        self.headers = [(name, fill) for name, value in target.headers.items() if (fill := compiled_text(value))]
        self.body = _body_of(target)


class Forms:
    """Remembers forms by the very object: targets that say the same are one object in a node."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[HttpTarget, Form]] = {}

    def of(self, target: HttpTarget) -> Form:
        """The form of a target."""
        kept = self._known.get(id(target))
        if kept is not None and kept[0] is target:
            return kept[1]
        if len(self._known) >= MOST_FORMS:
            del self._known[next(iter(self._known))]
        form = Form(target)
        self._known[id(target)] = target, form
        return form


class Plan:
    """How attempts of one job version become requests."""

    def __init__(self, job: Job, target: HttpTarget, form: Form) -> None:
        self.job = job
        self.target = target
        self.head = form.head
        self._query, self._headers, self._body, self._origin = form.query, form.headers, form.body, form.origin

    def request(self, ran: Instance, access: Access, timestamp: int, extra: str = "") -> Request:
        """The request of one attempt. `extra` header lines end with a line end each."""
        call = call_of(ran, self.job)
        body = self._body(call)
        key = plain(ran.idem_key)
        token = completion_of(ran)
        later = "" if token is None else f"Horae-Completion-Token: {token}\r\n"
        lines = f"Idempotency-Key: {key}\r\nHorae-Attempt: {ran.attempt}\r\n{trace_line(ran)}{later}{extra}"
        for name, fill in self._headers:
            lines += _line(name, fill(call))
        first = self.head if self._query is None else self._query.into(self.head, call)
        return self.closed(first, lines, key, body, access, timestamp)

    def closed(self, first: bytes, lines: str, id_: str, body: bytes, access: Access, timestamp: int) -> Request:
        """A request from its static head and its own lines: signed, with who we are, and with its length."""
        if access.keys:
            signature = sign(access.keys, id_, timestamp, body)
            lines += f"webhook-id: {id_}\r\nwebhook-timestamp: {timestamp}\r\nwebhook-signature: {signature}\r\n"
        data = b"%b%bContent-Length: %d\r\n\r\n%b" % (first, (lines + access.line).encode(), len(body), body)
        target = self.target
        return Request(self.origin(access), data, target.connect_timeout, target.read_timeout, self.job.tenant_id)

    def origin(self, access: Access) -> Origin:
        """Where it goes, as whom, and by which rules."""
        if access.identity is None and access.egress is None:
            return self._origin
        return self._origin._replace(identity=access.identity, egress=access.egress)


class _Query:
    """A query whose values differ from fire to fire."""

    def __init__(self, query: dict[str, str]) -> None:
        self._fills = [(name, value, compiled_text(value)) for name, value in query.items()]

    def into(self, head: bytes, call: Call) -> bytes:
        """The head with the filled query in its first line."""
        filled = {name: fill(call) if fill else value for name, value, fill in self._fills}
        method, path, rest = head.split(b" ", 2)
        return b" ".join([method, path + _joined(path.decode(), _encoded(filled)).encode(), rest])


def trace_line(ran: Instance) -> str:
    """The header that carries the trace context of an attempt."""
    return f"traceparent: {traceparent(ran.id, span())}\r\n"


def plain(key: str) -> str:
    """A key as a header can carry it: visible ASCII as it is, the rest percent-encoded. No two look alike."""
    if key.isascii() and key.isprintable() and " " not in key and "%" not in key:
        return key
    return quote(key, safe=PLAIN)  # % too is encoded


def _line(name: str, value: str) -> str:
    if not sendable(value):
        raise Unsendable(ErrorCode.UNSENDABLE, f"the header {name!r} would hold a control character")
    return f"{name}: {value}\r\n"


def _still(values: dict[str, str]) -> dict[str, str]:
    """Those without placeholders."""
    return {name: value for name, value in values.items() if compiled_text(value) is None}


def _encoded(query: dict[str, str]) -> str:
    return urlencode(query, quote_via=quote, safe="")


def _joined(path: str, query: str) -> str:
    """What follows a path so that it has this query too."""
    return query and ("&" if "?" in path else "?") + query


def _body_of(target: HttpTarget) -> Callable[[Call], bytes]:
    if target.method == "GET":
        return lambda call: b""
    if target.body is None:
        return ENCODE
    fill: Fill | None = compiled(target.body)
    if fill is None:
        constant = ENCODE(target.body)
        return lambda call: constant
    filled: Callable[[Any], Any] = fill
    return lambda call: ENCODE(filled(call))
