"""Several attempts in one request: how they are told, and how one answer is read as many."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, Final

import msgspec

from horae.delivery.auth import Access
from horae.delivery.http import Answer, Request
from horae.delivery.plans import ENCODE, Plan, trace_line
from horae.domain.answers import OUTCOME_HEADER, judge
from horae.domain.calls import batched
from horae.domain.foreign import Unreadable, read_as, read_json
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.outcomes import ErrorCode, Outcome, Retryable

MAX_BATCH_BYTES: Final = 512 * 1024
"""Of the calls in one request: it is encoded, signed and copied in one turn, and most targets take a megabyte."""


class Result(msgspec.Struct, frozen=True):
    """What became of one call of a batch, in the words of an answer of its own."""

    status: Annotated[int, msgspec.Meta(ge=200, le=599)]
    outcome: str = ""
    retry_after: Annotated[int, msgspec.Meta(ge=0)] | None = None

    def headers(self) -> dict[str, str]:
        """As the headers that would have said it."""
        waits = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        return {OUTCOME_HEADER: self.outcome, **waits}


def fitting_calls(runs: Sequence[Instance], job: Job) -> list[bytes]:
    """The calls of the first of these attempts, encoded: as many as one request carries, and at least one."""
    calls: list[bytes] = []
    size = 0
    for ran in runs:
        call = ENCODE(batched(ran, job))
        size += len(call)
        if calls and size > MAX_BATCH_BYTES:
            break
        calls.append(call)
    return calls


def request(
    plan: Plan, runs: Sequence[Instance], calls: Sequence[bytes], access: Access, timestamp: int, extra: str = ""
) -> Request:
    """One request for several attempts. Each call has its own idempotency key, so the request has none."""
    body = b'{"batch":[%b]}' % b",".join(calls)
    return plan.closed(plan.head, trace_line(runs[0]) + extra, _id_of(runs), body, access, timestamp)


def outcomes(answer: Answer, count: int, completion_seconds: float) -> list[Outcome]:
    """The outcome of each call: by `results` if the answer has them, otherwise its one status counts for all."""
    one = judge(answer.status, answer.headers, completion_seconds)
    if not 200 <= answer.status < 300:
        return [one] * count
    try:
        results = _results(answer)
    except Unreadable as error:
        return [Retryable(ErrorCode.PROTOCOL, f"the results cannot be read: {error}")] * count
    if results is None:
        return [one] * count
    if len(results) != count:
        return [Retryable(ErrorCode.PROTOCOL, f"{len(results)} results for {count} calls")] * count
    return [judge(result.status, result.headers(), completion_seconds) for result in results]


def _results(answer: Answer) -> list[Result] | None:
    if answer.cut:
        raise Unreadable("the answer was cut off")
    try:
        said = read_json(answer.body)
    except Unreadable:
        return None
    if not isinstance(said, dict) or "results" not in said:
        return None
    return read_as(said["results"], list[Result])


def _id_of(runs: Sequence[Instance]) -> str:
    """The same for the same calls, so that a batch sent again is known again."""
    return "batch_" + sha256("\n".join([ran.idem_key for ran in runs]).encode()).hexdigest()[:32]
