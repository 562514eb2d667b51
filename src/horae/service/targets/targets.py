"""Test requests: call a job's target once. Nothing fires, and no row is read or written."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, NamedTuple

from horae.delivery import batches
from horae.delivery.auth import Access
from horae.delivery.http import HttpAnswer, HttpRequest
from horae.delivery.push import Heard, Sender, delivery_of
from horae.delivery.request_plans import RequestPlan
from horae.delivery.waiting import wait_for_callback
from horae.domain.foreign import printable
from horae.domain.ids import encode_id
from horae.domain.instances.instances import Instance
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import Outcome
from horae.domain.jobs.jobs import Job
from horae.runtime.clock import boottime
from horae.runtime.randomness import new_id

TEST_LINE: Final = "Horae-Test: true\r\n"
MOST_HEADERS: Final = 30
"""Headers of an answer that a result contains."""
LONGEST_VALUE: Final = 200
"""Characters of a header value that a result contains."""
HIDDEN: Final = "***"


class TrialResult(NamedTuple):
    """The request with its secrets hidden, and the answer. The texts hold no terminal control characters."""

    sent: str | None
    outcome: Outcome
    status: int | None
    headers: dict[str, str]
    answer: str | None
    duration_ms: int


async def try_target(sender: Sender, job: Job, now: datetime, payload: Any = None) -> TrialResult:
    """Call a job's target once, with the header `Horae-Test: true` and an idempotency key that begins with `test:`."""
    ran = _attempt(job, now, payload)
    sent: list[str] = []

    def make(plan: RequestPlan, access: Access) -> HttpRequest:
        at = int(sender.wall())
        if plan.target.batch > 1:
            request = batches.request(plan, [ran], batches.fitting_calls([ran], plan.job), access, at, TEST_LINE)
        else:
            request = plan.request(ran, access, at, TEST_LINE)
        sent.append(printable(_without_credentials(request.data.decode("utf-8", "replace"), access)))
        return request

    def begin(done: Callable[[Heard], None]) -> None:
        sender.send(sender.plan(job), make, done)

    began = boottime()
    result: Heard = await wait_for_callback(begin)
    done = delivery_of(sender.plan(job), result, round((boottime() - began) * 1000))
    headers = _small(result.headers) if isinstance(result, HttpAnswer) else {}
    said = None if done.answer is None else printable(done.answer)
    return TrialResult(sent[0] if sent else None, done.outcome, done.status, headers, said, done.duration_ms)


def _attempt(job: Job, now: datetime, payload: Any) -> Instance:
    """Returns an attempt without a row. It has no token, because no later answer is possible."""
    id_ = new_id(job.shard, now)
    return Instance(
        shard=job.shard,
        id=id_,
        tenant_id=job.tenant_id,
        job_id=job.id,
        job_version=job.version,
        idem_key=f"test:{encode_id(id_)}",
        fire_time=now,
        due_at=now,
        state=State.RUNNING,
        attempt=1,
        payload=payload,
    )


def _without_credentials(text: str, access: Access) -> str:
    """Returns a request without its credentials."""
    if not access.line:
        return text
    name_and_scheme, _, _ = access.line.rpartition(" ")
    return text.replace(access.line, f"{name_and_scheme} {HIDDEN}\r\n")


def _small(headers: dict[str, str]) -> dict[str, str]:
    return {name: printable(value)[:LONGEST_VALUE] for name, value in list(headers.items())[:MOST_HEADERS]}
