"""Request plans: the parts of a request that are the same at every fire of a job version are prepared as bytes."""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from horae.delivery.auth import Access
from horae.delivery.http import USER_AGENT, HttpRequest, Origin, head, parse_url
from horae.delivery.secrets import Unsendable
from horae.delivery.signing import sign
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import ErrorCode
from horae.domain.jobs.jobs import Job
from horae.domain.targets.calls import Call, call_of, completion_of, scheduled_call_of
from horae.domain.targets.targets import HttpTarget
from horae.domain.targets.templates import Fill, compile_text, compile_value, names_previous
from horae.domain.targets.urls import is_sendable
from horae.domain.traces.contexts import traceparent
from horae.runtime.bounded_dict import BoundedDict

ENCODE: Final = msgspec.json.Encoder().encode
"""Encodes a value as JSON."""
USUAL: Final = {"User-Agent": USER_AGENT, "Content-Type": "application/json"}
"""Headers that every call has, unless its target sets them."""
MOST_FORMS: Final = 10_000
"""Forms that are kept."""
PLAIN: Final = "!\"#$&'()*+,/:;<=>?@[\\]^`{|}"
"""Visible characters that an idempotency key keeps in a header, beside letters, digits and `_.-~`."""


class Form:
    """The prepared parts that all jobs with one target share."""

    def __init__(self, target: HttpTarget) -> None:
        given = {name.lower() for name in target.headers}
        usual = {name: value for name, value in USUAL.items() if name.lower() not in given}
        self.query = None if _without_placeholders(target.query) == target.query else _Query(target.query)
        place = parse_url(target.url)
        self.origin = place.origin
        path = place.path if self.query else place.path + _query_suffix(place.path, _encode_query(target.query))
        self.head = head(target.method, place._replace(path=path), {**usual, **_without_placeholders(target.headers)})
        self.headers = [(name, fill) for name, value in target.headers.items() if (fill := compile_text(value))]
        self.body = _body_of(target)
        self.call_of = scheduled_call_of if names_previous(target.query, target.headers, target.body) else call_of


class Forms:
    """Remembers forms by object identity: equal targets are one object within a node."""

    def __init__(self) -> None:
        self._known = BoundedDict[int, tuple[HttpTarget, Form]](MOST_FORMS)

    def of(self, target: HttpTarget) -> Form:
        """Return the form of a target."""
        kept = self._known.get(id(target))
        if kept is not None and kept[0] is target:
            return kept[1]
        form = Form(target)
        self._known[id(target)] = target, form
        return form


class RequestPlan:
    """Turns attempts of one job version into requests."""

    __slots__ = ("form", "job", "target")

    def __init__(self, job: Job, target: HttpTarget, form: Form) -> None:
        self.job = job
        self.target = target
        self.form = form

    def request(
        self, ran: Instance, access: Access, timestamp: int, extra: str = "", *, sampled: bool = True
    ) -> HttpRequest:
        """Build the request of one attempt. Each header line in `extra` ends with a line end."""
        form = self.form
        call = form.call_of(ran, self.job)
        body = form.body(call)
        key = plain(ran.idem_key)
        token = completion_of(ran)
        later = "" if token is None else f"Horae-Completion-Token: {token}\r\n"
        trace = trace_line(ran, sampled=sampled)
        lines = f"Idempotency-Key: {key}\r\nHorae-Attempt: {ran.attempt}\r\n{trace}{later}{extra}"
        for name, fill in form.headers:
            lines += _line(name, fill(call))
        first = form.head if form.query is None else form.query.into(form.head, call)
        return self.complete(first, lines, key, body, access, timestamp)

    def complete(self, first: bytes, lines: str, id_: str, body: bytes, access: Access, timestamp: int) -> HttpRequest:
        """Complete a request from its static head and its own lines: signature, credentials and length."""
        if access.keys:
            signature = sign(access.keys, id_, timestamp, body)
            lines += f"webhook-id: {id_}\r\nwebhook-timestamp: {timestamp}\r\nwebhook-signature: {signature}\r\n"
        data = b"%b%bContent-Length: %d\r\n\r\n%b" % (first, (lines + access.line).encode(), len(body), body)
        target = self.target
        return HttpRequest(self.origin(access), data, target.connect_timeout, target.read_timeout, self.job.tenant_id)

    def origin(self, access: Access) -> Origin:
        """Return where the request goes, with which TLS identity, and under which egress rules."""
        if access.identity is None and access.egress is None:
            return self.form.origin
        return self.form.origin._replace(identity=access.identity, egress=access.egress)


class _Query:
    """A query with placeholders, filled at every fire."""

    def __init__(self, query: dict[str, str]) -> None:
        self._fills = [(name, value, compile_text(value)) for name, value in query.items()]

    def into(self, head: bytes, call: Call) -> bytes:
        """Return the head with the filled query in its request line."""
        filled = {name: fill(call) if fill else value for name, value, fill in self._fills}
        method, path, rest = head.split(b" ", 2)
        return b" ".join([method, path + _query_suffix(path.decode(), _encode_query(filled)).encode(), rest])


def trace_line(ran: Instance, *, sampled: bool) -> str:
    """Return the header line with the trace context of an attempt."""
    return f"traceparent: {traceparent(ran.id, ran.attempt, sampled=sampled)}\r\n"


def plain(key: str) -> str:
    """Return a key in visible ASCII, with all other characters percent-encoded. Different keys stay different."""
    if key.isascii() and key.isprintable() and " " not in key and "%" not in key:
        return key
    return quote(key, safe=PLAIN)  # a % is encoded too


def _line(name: str, value: str) -> str:
    if not is_sendable(value):
        raise Unsendable(ErrorCode.UNSENDABLE, f"the header {name!r} would hold a control character")
    return f"{name}: {value}\r\n"


def _without_placeholders(values: dict[str, str]) -> dict[str, str]:
    """Return the values without placeholders."""
    return {name: value for name, value in values.items() if compile_text(value) is None}


def _encode_query(query: dict[str, str]) -> str:
    return urlencode(query, quote_via=quote, safe="")


def _query_suffix(path: str, query: str) -> str:
    """Return what to append to a path to add this query."""
    return query and ("&" if "?" in path else "?") + query


def _encode_call(call: Call) -> bytes:
    """Encode the plain call, without what only its templates name."""
    return ENCODE({name: getattr(call, name) for name in Call.__struct_fields__})


def _body_of(target: HttpTarget) -> Callable[[Call], bytes]:
    """Return the function that makes the body of a call: nothing, the call itself, a constant, or a filled template."""
    if target.method == "GET":
        return lambda call: b""
    if target.body is None:
        return _encode_call if names_previous(target.query, target.headers) else ENCODE
    fill: Fill | None = compile_value(target.body)
    if fill is None:
        constant = ENCODE(target.body)
        return lambda call: constant
    filled: Callable[[Any], Any] = fill
    return lambda call: ENCODE(filled(call))
