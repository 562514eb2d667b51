"""Spans leave by a thread: the event loop never waits for the collector, and what is lost is counted."""

import time

from structlog.testing import capture_logs

from horae.domain.traces.contexts import TraceContext
from horae.domain.traces.spans import SpanKind, TraceSpan
from horae.runtime import span_export
from horae.runtime.span_export import MAX_QUEUED_SPANS, SpanExporter
from horae.runtime.tracing import Tracer
from tests.otlp import attributes, collecting

LONG_S = 30.0


def a_span(number=1):
    link = TraceContext(5, 6)
    return TraceSpan(
        "fire x", SpanKind.INTERNAL, TraceContext(7, number), 3, 1.5, 2.5, {"horae.job": "x", "n": 2}, True, link
    )


def until(true):
    deadline = time.monotonic() + LONG_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lost_of(exporter):
    [family] = [one for one in exporter.collect() if one.name == "horae_spans_lost"]
    return {sample.labels["reason"]: sample.value for sample in family.samples}


def test_the_collector_gets_what_was_recorded():
    with collecting() as collector:
        exporter = SpanExporter(collector.url, "node/1")
        Tracer(1.0, exporter).record(a_span())
        exporter.close()
        span = collector.one("fire x")
    assert (int.from_bytes(span.trace_id, "big"), int.from_bytes(span.span_id, "big")) == (7, 1)
    assert int.from_bytes(span.parent_span_id, "big") == 3
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (1_500_000_000, 2_500_000_000)
    assert attributes(span) == {"horae.job": "x", "n": 2}
    assert span.status.code == 2
    assert [(int.from_bytes(one.trace_id, "big"), int.from_bytes(one.span_id, "big")) for one in span.links] == [(5, 6)]


def test_a_collector_that_hangs_costs_the_spans_that_do_not_fit():
    with collecting() as collector:
        collector.gate.clear()
        exporter = SpanExporter(collector.url, "node/1")
        for number in range(1, MAX_QUEUED_SPANS + 2000):
            exporter.add(a_span(number))  # returns at once, or this test takes minutes
        assert lost_of(exporter)["queue_full"] > 0
        collector.gate.set()
        until(lambda: exporter.exported + exporter.lost.total() == MAX_QUEUED_SPANS + 1999)
        exporter.close()


def test_a_collector_that_is_gone_takes_one_line_and_one_when_it_is_back(monkeypatch):
    monkeypatch.setattr(span_export, "EXPORT_INTERVAL_S", 0.01)
    with capture_logs() as lines, collecting() as collector:
        collector.status = 503
        exporter = SpanExporter(collector.url, "node/1")
        for number in range(1, 6):
            exporter.add(a_span(number))
            until(lambda number=number: exporter.lost["not_accepted"] == number)
        collector.status = 200
        exporter.add(a_span())
        until(lambda: exporter.exported == 1)
        exporter.close()
    assert [line["event"] for line in lines] == ["traces.lost", "traces.recovered"]
    assert lines[1]["lost"] == lost_of(exporter)["not_accepted"] == 5
