"""Follows a trace from the caller of the API to the target, through what a collector has of Horae."""

from contextlib import asynccontextmanager

import httpx2
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from horae.boot.api_server import api_server
from horae.boot.secrets import secrets_of
from horae.boot.serving import run_node
from horae.runtime.settings import Settings

SECRET = "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo"


def own_spans():
    """What the programs around Horae record themselves: the caller and the target."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    kept.provider = provider
    return kept


def span_of_caller(own):
    """A span that has ended, and its `traceparent`."""
    with own.provider.get_tracer("caller").start_as_current_span("caller") as caller:
        carrier = {}
        TraceContextTextMapPropagator().inject(carrier, trace.set_span_in_context(caller))
    return caller, carrier["traceparent"]


def settings_of(collector, cells, **facts):
    facts = {"traces_sampled": 0.0, "grace": 1, "api_port": 0, "environment": "test", "encryption": "off"} | facts
    return Settings(cells=cells, traces=collector.url, api_secret=SECRET, **facts)


@asynccontextmanager
async def deployment(settings, store):
    """A node and an API in this process."""
    async with (
        run_node(settings, store, await secrets_of(settings, store)),
        api_server(settings, store) as url,
    ):
        yield url


async def put(url, key, path, context=None, body=None):
    headers = {"Authorization": f"Bearer {key}"} | ({} if context is None else {"traceparent": context})
    async with httpx2.AsyncClient(base_url=url, headers=headers) as client:
        answer = await client.put(f"/api/v1{path}", json=body or {})
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()


def as_target(own, traceparent):
    """The target continues the trace that its call carries, as every instrumented server does."""
    parent = TraceContextTextMapPropagator().extract({"traceparent": traceparent})
    with own.provider.get_tracer("target").start_as_current_span("target", context=parent):
        pass
    return own.get_finished_spans()[-1]


def is_settled(collector, target):
    """Whether the result of the attempt that called the target has been recorded."""
    return any(span.parent_span_id == target.parent.span_id.to_bytes(8, "big") for span in collector.named("settle"))


def follow_back(collector, target, caller, route="PUT /api/v1/tasks/{type}/{key}"):
    """Walk from the span of the target to the span of the caller; returns the names that were passed."""
    attempt = next(span for span in collector.spans if span.span_id == target.parent.span_id.to_bytes(8, "big"))
    assert attempt.trace_id == target.context.trace_id.to_bytes(16, "big")
    fire = next(span for span in collector.spans if span.span_id == attempt.parent_span_id)
    assert (fire.trace_id, fire.parent_span_id) == (attempt.trace_id, b"")
    [link] = fire.links
    request = next(span for span in collector.spans if span.span_id == link.span_id)
    assert (request.name, request.trace_id) == (route, link.trace_id)
    assert request.trace_id == caller.context.trace_id.to_bytes(16, "big")
    assert request.parent_span_id == caller.context.span_id.to_bytes(8, "big")
    settle = next(span for span in collector.spans if span.parent_span_id == attempt.span_id)
    assert settle.name == "settle"
    return [request.name, fire.name, attempt.name]
