"""Several attempts in one request: its body, and how one answer is split into outcomes."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, Final

import msgspec

from horae.delivery.auth import Access
from horae.delivery.http import HttpAnswer, HttpRequest
from horae.delivery.request_plans import ENCODE, RequestPlan, trace_line
from horae.domain.foreign import Unreadable, read_as, read_json
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import ErrorCode, Outcome, Retryable
from horae.domain.jobs.jobs import Job
from horae.domain.targets.answers import OUTCOME_HEADER, judge
from horae.domain.targets.calls import batch_call_of

MAX_BATCH_BYTES: Final = 512 * 1024
"""Size limit of all calls of one request: encoding, signing and copying block the event loop.

Most targets accept a body of one megabyte.
"""


class BatchResult(msgspec.Struct, frozen=True):
    """The result of one call of a batch, with the fields that an answer of its own would have."""

    status: Annotated[int, msgspec.Meta(ge=200, le=599)]
    outcome: str = ""
    retry_after: Annotated[int, msgspec.Meta(ge=0)] | None = None

    def headers(self) -> dict[str, str]:
        """Return the headers that would carry the same result."""
        waits = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        return {OUTCOME_HEADER: self.outcome, **waits}


def fitting_calls(runs: Sequence[Instance], job: Job) -> list[bytes]:
    """Encode the calls of the first attempts: as many as fit into one request, and at least one."""
    calls: list[bytes] = []
    size = 0
    for ran in runs:
        call = ENCODE(batch_call_of(ran, job))
        size += len(call)
        if calls and size > MAX_BATCH_BYTES:
            break
        calls.append(call)
    return calls


def request(
    plan: RequestPlan,
    runs: Sequence[Instance],
    calls: Sequence[bytes],
    access: Access,
    timestamp: int,
    extra: str = "",
    *,
    sampled: bool = True,
) -> HttpRequest:
    """Build one request for several attempts. Each call carries its own idempotency key; the request has none."""
    body = b'{"batch":[%b]}' % b",".join(calls)
    lines = trace_line(runs[0], sampled=sampled) + extra
    return plan.complete(plan.form.head, lines, _id_of(runs), body, access, timestamp)


def outcomes(answer: HttpAnswer, count: int, completion_seconds: float) -> list[Outcome]:
    """Return the outcome of each call.

    1. An answer outside of 2xx counts for every call.
    2. An answer whose body has no `results` counts for every call.
    3. Otherwise `results` must be readable and have one entry per call; each entry is judged as an answer of its own.
    """
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


def _results(answer: HttpAnswer) -> list[BatchResult] | None:
    """Return the `results` of an answer; None where the body is no JSON object with that name."""
    if answer.cut:
        raise Unreadable("the answer was cut off")
    try:
        said = read_json(answer.body)
    except Unreadable:
        return None
    if not isinstance(said, dict) or "results" not in said:
        return None
    return read_as(said["results"], list[BatchResult])


def _id_of(runs: Sequence[Instance]) -> str:
    """Return an id that depends on the calls alone: a receiver recognises a batch that is sent again."""
    return "batch_" + sha256("\n".join([ran.idem_key for ran in runs]).encode()).hexdigest()[:32]
