"""Traces of a process: which are sampled, and the request that is being handled.

A process without traces has no tracer: `None`, and the check for it is all that they cost.
"""

import time
from contextvars import ContextVar
from typing import Final, NamedTuple, Protocol

from horae.domain.traces.contexts import TraceContext, is_sampled, least_sampled
from horae.domain.traces.spans import TraceSpan

wall_s = time.time
"""Unix time by the clock of this machine: for the spans of requests, which no row knows."""


class SpanSink(Protocol):
    """Takes spans. It never waits and never raises."""

    def add(self, span: TraceSpan) -> None:
        """Take one span."""


class Tracer:
    """Decides which traces are sampled, and passes spans on.

    `part` of all traces are sampled. `record` takes the spans of a sampled trace.
    """

    def __init__(self, part: float, sink: SpanSink) -> None:
        self.least = least_sampled(part)
        self.record = sink.add

    def samples(self, trace_id: int, caller_trace: bytes | None = None) -> bool:
        """Whether the trace is sampled: by its id, or because the trace of its caller is."""
        return caller_trace is not None or is_sampled(trace_id, self.least)


class RequestTrace(NamedTuple):
    """The sampled span of the request that this task handles.

    `sampled_from`: the ids of new instances are made so that they are sampled, too.
    """

    context: TraceContext
    sampled_from: int


REQUEST_TRACE: Final[ContextVar[RequestTrace | None]] = ContextVar("request_trace", default=None)


def caller_trace() -> bytes | None:
    """The trace context to store with what this request creates; None where it is not sampled."""
    found = REQUEST_TRACE.get()
    return None if found is None else found.context.pack()


def sampled_from() -> int:
    """The least random bits of the ids that this request creates; 0 where it is not sampled."""
    found = REQUEST_TRACE.get()
    return 0 if found is None else found.sampled_from
