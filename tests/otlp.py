"""A collector of spans: it takes what comes by OTLP over HTTP, and decodes the protobuf."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """The spans that arrived. `status` is the answer to every request, and `gate` must be set before it is given."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.gate = threading.Event()
        self.gate.set()
        self.requests: list[bytes] = []
        self.spans: list[Any] = []

    def take(self, body: bytes) -> None:
        self.requests.append(body)
        sent = ExportTraceServiceRequest.FromString(body)
        self.spans += [span for one in sent.resource_spans for scope in one.scope_spans for span in scope.spans]

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str, trace_id: bytes | None = None) -> Any:
        [found] = [span for span in self.named(name) if trace_id in (None, span.trace_id)]
        return found


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Content-Type"] == "application/x-protobuf"
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.gate.wait(30)
            if collector.status == 200:
                collector.take(body)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.url = f"http://127.0.0.1:{server.server_port}/v1/traces"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield collector
    finally:
        collector.gate.set()
        server.shutdown()
        server.server_close()


def attributes(span: Any) -> dict[str, str | int]:
    """The attributes of a span as Python values."""
    return {
        one.key: one.value.string_value if one.value.HasField("string_value") else one.value.int_value
        for one in span.attributes
    }
