"""Trace contexts, where the program uses OpenTelemetry. Without it nothing here does anything.

A request carries the context of the current span, so that the fire of a task is linked to it. A handler runs in a span
of its own, a child of its attempt.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from horae_client.outcomes import Outcome

try:
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:  # the program does not use it
    _traces: Any = None
    _propagator: Any = None
else:
    _traces, _propagator = trace, TraceContextTextMapPropagator()

NAME: Final = "horae_client"


def traceparent() -> str | None:
    """The W3C trace context of the current span; None if there is no span."""
    if _traces is None or not _traces.get_current_span().get_span_context().is_valid:
        return None
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return carrier.get("traceparent")


@contextmanager
def handler_span(job: str, attempt: int, parent: str | None) -> Iterator[None]:
    """Run a handler in a span below the span of its attempt. The span has no payload, key or error text."""
    if _traces is None or parent is None or isinstance(_traces.get_tracer_provider(), _traces.ProxyTracerProvider):
        yield
        return
    facts = {"horae.job": job, "horae.attempt": attempt}
    with _traces.get_tracer(NAME).start_as_current_span(
        f"worker {job}",
        context=_propagator.extract({"traceparent": parent}),
        kind=_traces.SpanKind.CONSUMER,
        attributes=facts,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except Exception as error:
            if not isinstance(error, Outcome):
                span.set_status(_traces.StatusCode.ERROR)
                span.set_attribute("error.type", type(error).__name__)
            raise
