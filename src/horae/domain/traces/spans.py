"""Spans of an instance: its fire, its attempts, and the write of their results.

A span has no URL, no payload, no business key and no message of a target: those may hold secrets.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import (
    AcceptedCall,
    DeclinedCall,
    FailedProbe,
    LostAttempt,
    Outcome,
    Retryable,
    ReturnedAttempt,
    Success,
    Unrecoverable,
)
from horae.domain.traces.contexts import TraceContext, context_of, span_of, stored_context

OUTCOME_WORDS: Final[dict[type[Outcome], str]] = {
    Success: "success",
    AcceptedCall: "accepted",
    DeclinedCall: "declined",
    Retryable: "retryable",
    Unrecoverable: "unrecoverable",
    LostAttempt: "lost",
    FailedProbe: "failed_probe",
    ReturnedAttempt: "returned",
}


class SpanKind(IntEnum):
    """The side of a call that a span describes, with the numbers of OTLP."""

    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


class TraceSpan(NamedTuple):
    """A piece of work that has ended. Times are Unix times in seconds. `parent` is a span id; 0 means none."""

    name: str
    kind: SpanKind
    context: TraceContext
    parent: int
    began: float
    ended: float
    attributes: Mapping[str, str | int]
    failed: bool = False
    link: TraceContext | None = None


def fire_span(ran: Instance, job: str, sent: float) -> TraceSpan:
    """Return the span of a fire: from its due time until its first attempt was sent or claimed.

    It is linked to the call that set its time. It is no child of that call, which may have ended long ago.
    """
    link = None if ran.caller_trace is None else stored_context(ran.caller_trace)
    facts = {**_facts(ran, job), "horae.held_ms": ran.held_ms}
    due = min(ran.due_at.timestamp(), sent)
    return TraceSpan(f"fire {job}", SpanKind.INTERNAL, context_of(ran.id), 0, due, sent, facts, link=link)


def attempt_span(
    ran: Instance, job: str, kind: SpanKind, began: float, ended: float, outcome: Outcome, status: int | None = None
) -> TraceSpan:
    """Return the span of an attempt: from its start until its answer. It is a child of its fire."""
    facts = {**_facts(ran, job), "horae.attempt": ran.attempt, "horae.outcome": OUTCOME_WORDS[type(outcome)]}
    code = getattr(outcome, "code", None)
    if code is not None:
        facts["error.type"] = str(code)
    if status is not None:
        facts["http.response.status_code"] = status
    failed = not isinstance(outcome, Success | AcceptedCall | DeclinedCall)
    context, parent = context_of(ran.id, ran.attempt), span_of(ran.id)
    return TraceSpan(f"attempt {job}", kind, context, parent, min(began, ended), ended, facts, failed)


def settle_span(ran: Instance, span_id: int, began: float, ended: float, *, written: bool) -> TraceSpan:
    """Return the span of the transaction that wrote the result of an attempt. It is a child of the attempt.

    A result that was not written came too late: the attempt had another owner.
    """
    context, parent = TraceContext(ran.id.int, span_id), span_of(ran.id, ran.attempt)
    facts: dict[str, str | int] = {
        "horae.instance": public(Prefix.INSTANCE, ran.id),
        "horae.written": int(written),
    }
    return TraceSpan("settle", SpanKind.CLIENT, context, parent, began, max(began, ended), facts, not written)


def _facts(ran: Instance, job: str) -> dict[str, str | int]:
    return {
        "horae.tenant": public(Prefix.TENANT, ran.tenant_id),
        "horae.job": job,
        "horae.instance": public(Prefix.INSTANCE, ran.id),
        "horae.shard": ran.shard,
    }
