"""Sends spans to a collector by OTLP over HTTP, in a thread of its own.

The event loop only appends to a bounded queue. A collector that is slow or gone loses spans, which are counted, and
nothing else: no span is tried twice.
"""

import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

from prometheus_client.core import Metric

from horae.domain.errors import Invalid
from horae.domain.traces.spans import TraceSpan
from horae.runtime.metrics import MetricFacts, MetricKind
from horae.runtime.telemetry import log

MAX_QUEUED_SPANS: Final = 8192
"""Spans that wait for the thread. Further spans are lost."""
SPANS_PER_REQUEST: Final = 512
EXPORT_INTERVAL_S: Final = 1.0
"""Seconds that a span waits at most for others, while the collector answers."""
COLLECTOR_TIMEOUT_S: Final = 5.0
CLOSE_TIMEOUT_S: Final = 3.0
"""Seconds that the last spans of a process have at its end."""
SAMPLED_FLAG: Final = 0x01
STATUS_ERROR: Final = 2
"""`STATUS_CODE_ERROR` of OTLP."""
NANOSECONDS: Final = 1_000_000_000

SPANS_EXPORTED: Final = MetricFacts(
    "horae_spans_exported", MetricKind.COUNTER, "Spans that the collector has accepted."
)
SPANS_LOST: Final = MetricFacts(
    "horae_spans_lost",
    MetricKind.COUNTER,
    "Spans that were lost: the queue was full, or the collector did not accept them.",
    ("reason",),
)
TRACE_FAMILIES: Final = (SPANS_EXPORTED, SPANS_LOST)


class SpanExporter:
    """Queues spans, and sends them to `url` in batches. `process` names this process in the collector."""

    def __init__(self, url: str, process: str) -> None:
        self._url = urlsplit(url)
        self._encoder = SpanEncoder(process)
        self._queue: deque[TraceSpan] = deque()
        self._wake = threading.Event()
        self._closing = False
        self._failing = False
        self.exported = 0
        self.lost: Counter[str] = Counter({"queue_full": 0, "not_accepted": 0})
        self._thread = threading.Thread(target=self._run, name="spans", daemon=True)
        self._thread.start()

    def add(self, span: TraceSpan) -> None:
        """Queue a span. Called in the event loop: it never waits."""
        if len(self._queue) >= MAX_QUEUED_SPANS:
            self.lost["queue_full"] += 1
            return
        self._queue.append(span)
        if len(self._queue) >= SPANS_PER_REQUEST:
            self._wake.set()

    def collect(self) -> Iterator[Metric]:
        """Yields how many spans were accepted and lost."""
        yield SPANS_EXPORTED.sample(self.exported)
        yield SPANS_LOST.samples({(reason,): many for reason, many in self.lost.items()})

    def close(self) -> None:
        """Send the spans that are queued, for a bounded time. Waits; called outside of the event loop."""
        self._closing = True
        self._wake.set()
        self._thread.join(CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        while not self._closing or self._queue:
            self._wake.wait(EXPORT_INTERVAL_S)
            self._wake.clear()
            while self._queue:
                batch = [self._queue.popleft() for _ in range(min(len(self._queue), SPANS_PER_REQUEST))]
                self._send(batch)

    def _send(self, batch: Sequence[TraceSpan]) -> None:
        """Send one batch. The log has a line when the collector stops accepting, and one when it accepts again."""
        try:
            self._post(self._encoder.encode(batch))
        except Exception as error:
            self.lost["not_accepted"] += len(batch)
            if not self._failing:
                self._failing = True
                log.warning("traces.lost", reason=str(error) or type(error).__name__, advice="look at HORAE_TRACES")
            return
        self.exported += len(batch)
        if self._failing:
            self._failing = False
            log.info("traces.recovered", lost=self.lost.total())

    def _post(self, body: bytes) -> None:
        secure = self._url.scheme == "https"
        make = HTTPSConnection if secure else HTTPConnection
        connection = make(self._url.hostname or "", self._url.port, timeout=COLLECTOR_TIMEOUT_S)
        try:
            connection.request("POST", self._url.path or "/", body, {"Content-Type": "application/x-protobuf"})
            status = connection.getresponse().status
        finally:
            connection.close()
        if not 200 <= status < 300:
            raise HTTPException(f"the collector answered {status}")


class SpanEncoder:
    """Encodes spans with the messages of OTLP, which only processes with traces import."""

    def __init__(self, process: str) -> None:
        try:
            self._service: Any = import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
            self._trace: Any = import_module("opentelemetry.proto.trace.v1.trace_pb2")
            self._common: Any = import_module("opentelemetry.proto.common.v1.common_pb2")
            self._resource: Any = import_module("opentelemetry.proto.resource.v1.resource_pb2")
        except ImportError as error:
            raise Invalid(f"HORAE_TRACES needs a library: pip install 'horae[traces]' ({error})") from error
        self._facts = {"service.name": "horae", "service.instance.id": process}

    def encode(self, batch: Sequence[TraceSpan]) -> bytes:
        """Return the body of a request with these spans."""
        resource = self._resource.Resource(attributes=self._attributes(self._facts))
        spans = [self._span(span) for span in batch]
        scope = self._trace.ScopeSpans(scope=self._common.InstrumentationScope(name="horae"), spans=spans)
        part = self._trace.ResourceSpans(resource=resource, scope_spans=[scope])
        encoded: bytes = self._service.ExportTraceServiceRequest(resource_spans=[part]).SerializeToString()
        return encoded

    def _span(self, span: TraceSpan) -> Any:
        made = self._trace.Span(
            trace_id=span.context.trace_id.to_bytes(16, "big"),
            span_id=span.context.span_id.to_bytes(8, "big"),
            name=span.name,
            kind=int(span.kind),
            start_time_unix_nano=int(span.began * NANOSECONDS),
            end_time_unix_nano=int(span.ended * NANOSECONDS),
            attributes=self._attributes(span.attributes),
            flags=SAMPLED_FLAG,
        )
        if span.parent:
            made.parent_span_id = span.parent.to_bytes(8, "big")
        if span.failed:
            made.status.code = STATUS_ERROR
        if span.link is not None:
            trace_id, span_id = span.link.trace_id.to_bytes(16, "big"), span.link.span_id.to_bytes(8, "big")
            made.links.append(self._trace.Span.Link(trace_id=trace_id, span_id=span_id, flags=SAMPLED_FLAG))
        return made

    def _attributes(self, facts: Any) -> list[Any]:
        value, pair = self._common.AnyValue, self._common.KeyValue
        return [
            pair(key=name, value=value(int_value=fact) if isinstance(fact, int) else value(string_value=fact))
            for name, fact in facts.items()
        ]
