"""Spans of attempts that workers run: the fire ends with the claim, and the attempt lasts until its report."""

from collections.abc import Iterable
from datetime import datetime

from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import Outcome
from horae.domain.traces.spans import SpanKind, attempt_span, fire_span
from horae.domain.workers.workers import ClaimedAttempt
from horae.runtime.tracing import Tracer


def trace_claims(tracer: Tracer, given: Iterable[tuple[ClaimedAttempt, Instance, bool]]) -> None:
    """Record the fires of the sampled first attempts."""
    for one, ran, _ in given:
        if ran.attempt == 1 and one.sampled:
            tracer.record(fire_span(ran, one.job, one.claimed_at.timestamp()))


def trace_finish(tracer: Tracer, ran: Instance, job: str, began: datetime, ended: datetime, outcome: Outcome) -> None:
    """Record an attempt whose worker has reported, if it is sampled."""
    if tracer.samples(ran.id.int, ran.caller_trace):
        span = attempt_span(ran, job, SpanKind.PRODUCER, began.timestamp(), ended.timestamp(), outcome)
        tracer.record(span)
