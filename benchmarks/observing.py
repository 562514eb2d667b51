"""What metrics and traces add to a fire, timed in the process: no database and no collector is needed.

1. Metrics: the counts that a node keeps for each fire, and its share of a scrape every 15 seconds.
2. Traces: what the dispatcher, the sender and the settler ask and record for each fire, with one sampled fire of a
   hundred, and the encoding of the spans, which a thread does.

Each piece of work runs 100,000 times beside the same loop without it. Times are CPU times of the whole process, the
least of some rounds: what a neighbour on the machine adds is not ours.
"""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast
from uuid import UUID

from benchmarks.measure import Bound, judged
from horae.domain.health.signals import AttemptResult
from horae.domain.instances.instances import Instance, Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import Success
from horae.domain.traces.contexts import traceparent
from horae.domain.traces.spans import SpanKind, TraceSpan, attempt_span, fire_span
from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.metrics import MetricRegistry
from horae.runtime.randomness import id_maker
from horae.runtime.span_export import SPANS_PER_REQUEST, SpanEncoder
from horae.runtime.tracing import Tracer
from horae.store.health.counters import SignalCounts

CALLS: Final = 100_000
ROUNDS: Final = 5
NODE_CPU_US_PER_FIRE: Final = 200.0
"""CPU of a node for one fire; `benchmarks/reports/push.json` has more on a slower machine."""
FIRES_PER_SCRAPE: Final = 1500
"""A hundred fires a second, and a scrape every 15 seconds. A busier node pays less for each fire."""
SAMPLED_PART: Final = 0.01
TENANT: Final = UUID(int=7)


class EncodingSink:
    """Encodes spans as the exporter's thread does, in this thread, so that its CPU is counted."""

    def __init__(self) -> None:
        self._encoder = SpanEncoder("benchmark")
        self._spans: list[TraceSpan] = []
        self.encoded = 0

    def add(self, span: TraceSpan) -> None:
        """Take one span."""
        self._spans.append(span)
        if len(self._spans) >= SPANS_PER_REQUEST:
            self._encoder.encode(self._spans)
            self.encoded += len(self._spans)
            self._spans.clear()


class _Clock:
    @staticmethod
    def seconds() -> float:
        return time.time()


class _CellOfSettler:
    name = "cell-0"
    clock = _Clock()


def main(_seconds: float) -> dict[str, Any]:
    """Time both, and judge them by their parts of a fire."""
    sink = EncodingSink()
    metrics_us = _added_us(_metrics())
    scrape_us = _scrape_us() / FIRES_PER_SCRAPE
    traces_us = _added_us(_traces(Tracer(SAMPLED_PART, sink)))
    off_us = _added_us(_traces(None))
    metrics = (metrics_us + scrape_us) / NODE_CPU_US_PER_FIRE
    found = {
        "calls": CALLS,
        "node_cpu_us_per_fire": NODE_CPU_US_PER_FIRE,
        "metrics_us_per_fire": round(metrics_us + scrape_us, 2),
        "metrics_part": round(metrics, 4),
        "traces_us_per_fire": round(traces_us - off_us, 2),
        "traces_part": round((traces_us - off_us) / NODE_CPU_US_PER_FIRE, 4),
        "spans_encoded": sink.encoded,
    }
    return judged(found, [Bound("metrics_part", most=0.02), Bound("traces_part", most=0.05)])


def instances(many: int) -> list[Instance]:
    """First attempts of one job, with ids as a node makes them."""
    now, make = datetime.now(UTC), id_maker(datetime.now(UTC))
    return [
        Instance(
            shard=number % 4096,
            id=make(number % 4096),
            tenant_id=TENANT,
            job_id=UUID(int=9),
            job_version=1,
            idem_key=f"job:{number}",
            fire_time=now,
            due_at=now,
            state=State.RUNNING,
            attempt=1,
            priority=cast(Priority, 1),  # numbers, as rows have them
            lane=cast(Lane, 0),
        )
        for number in range(many)
    ]


def _metrics() -> Callable[[Instance], None]:
    counts = SignalCounts()

    def work(ran: Instance) -> None:
        counts.count_result(ran.tenant_id, ran.priority, ran.lane, AttemptResult.SUCCESS)
        counts.count_delays(ran.tenant_id, ran.priority, ran.lane, 3)

    return work


def _traces(tracer: Tracer | None) -> Callable[[Instance], None]:
    """The steps of a fire in their order: sent, the header of its call, answered, settled."""
    settler = Settler(cast(Any, _CellOfSettler()), tracer=tracer)
    success = Success()

    def work(ran: Instance) -> None:
        if tracer is not None and tracer.samples(ran.id.int, ran.caller_trace):
            tracer.record(fire_span(ran, "job", time.time()))
        traceparent(ran.id, ran.attempt, sampled=tracer is None or tracer.samples(ran.id.int, ran.caller_trace))
        if tracer is not None and tracer.samples(ran.id.int, ran.caller_trace):
            now = time.time()
            tracer.record(attempt_span(ran, "job", SpanKind.CLIENT, now - 0.003, now, success, 200))
        if tracer is not None:
            settler.trace(tracer, [AttemptOutcome(ran, None, success)], {ran.id}, 1.0)

    return work


def _scrape_us() -> float:
    registry = MetricRegistry()
    began = time.process_time()
    for _ in range(100):
        registry.text()
    return (time.process_time() - began) / 100 * 1e6


def _added_us(work: Callable[[Instance], None]) -> float:
    """Microseconds of CPU that the work takes for each call, less an empty loop."""
    runs = instances(CALLS)
    empty = min(_timed(runs, lambda _ran: None) for _ in range(ROUNDS))
    return (min(_timed(runs, work) for _ in range(ROUNDS)) - empty) / CALLS * 1e6


def _timed(runs: Sequence[Instance], work: Callable[[Instance], None]) -> float:
    began = time.process_time()
    for ran in runs:
        work(ran)
    return time.process_time() - began
