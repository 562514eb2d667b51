"""Spans of requests: a child of the caller's span, where the caller sends one."""

from typing import NamedTuple
from uuid import UUID

from starlette.requests import Request
from starlette.types import Scope

from horae.domain.traces.contexts import TraceContext, read
from horae.domain.traces.spans import SpanKind, TraceSpan
from horae.runtime.randomness import new_span_id, new_trace_id
from horae.runtime.tracing import REQUEST_TRACE, RequestTrace, Tracer, wall_s


class RequestSpan(NamedTuple):
    """The span of a request that is being handled. `parent` is the span id of the caller; 0 without a caller."""

    context: TraceContext
    parent: int
    began: float


def begin_request(tracer: Tracer, scope: Scope) -> RequestSpan | None:
    """Begin the span of a request; None if its trace is not sampled.

    1. The caller decides about its own trace: the request is sampled if the caller's trace is.
    2. A request without a trace begins one, which is sampled by its id.
    3. What a sampled request creates is sampled, too: `REQUEST_TRACE` tells the service.
    """
    REQUEST_TRACE.set(None)
    caller = _caller_of(scope)
    trace_id = new_trace_id() if caller is None else caller.trace_id
    if not (tracer.samples(trace_id) if caller is None else caller.sampled):
        return None
    context = TraceContext(trace_id, new_span_id())
    REQUEST_TRACE.set(RequestTrace(context, tracer.least))
    return RequestSpan(context, 0 if caller is None else caller.span_id, wall_s())


def end_request(tracer: Tracer, span: RequestSpan, method: str, route: str, status: int) -> None:
    """Record the span of a request. The route is a template, so it has no name, key or query of the caller."""
    facts: dict[str, str | int] = {
        "http.request.method": method,
        "http.route": route,
        "http.response.status_code": status,
    }
    name, failed = f"{method} {route}", status >= 500
    tracer.record(TraceSpan(name, SpanKind.SERVER, span.context, span.parent, span.began, wall_s(), facts, failed))


def trace_url(request: Request, instance_id: UUID) -> str | None:
    """Returns the address of the trace of an instance; None without a template, or if the trace is not sampled."""
    tracer: Tracer | None = request.app.state.tracer
    template: str | None = request.app.state.trace_link
    if tracer is None or template is None or not tracer.samples(instance_id.int):
        return None
    return template.replace("{trace_id}", instance_id.hex)


def _caller_of(scope: Scope) -> TraceContext | None:
    for name, value in scope["headers"]:
        if name == b"traceparent":
            return read(value.decode("latin-1"))
    return None
