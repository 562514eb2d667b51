"""A test request: the target is really called, and nothing fires. No row is read or written for it."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, NamedTuple

from horae.delivery import batches
from horae.delivery.auth import Access
from horae.delivery.http import Answer, Request
from horae.delivery.plans import Plan
from horae.delivery.push import Heard, Sender, delivered
from horae.delivery.waiting import answered
from horae.domain.foreign import printable
from horae.domain.ids import letters
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.lifecycle import State
from horae.domain.outcomes import Outcome
from horae.runtime.chance import mint
from horae.runtime.clock import boottime

TEST_LINE: Final = "Horae-Test: true\r\n"
MOST_HEADERS: Final = 30
LONGEST_VALUE: Final = 200
HIDDEN: Final = "***"


class Tried(NamedTuple):
    """What was sent, its secrets hidden, and what came back; texts hold nothing that could steer a terminal."""

    sent: str | None
    outcome: Outcome
    status: int | None
    headers: dict[str, str]
    answer: str | None
    duration_ms: int


async def try_target(sender: Sender, job: Job, now: datetime, payload: Any = None) -> Tried:
    """Call a job's target once, with `Horae-Test: true` and a key of its own that begins with `test:`."""
    ran = _attempt(job, now, payload)
    sent: list[str] = []

    def make(plan: Plan, access: Access) -> Request:
        at = int(sender.wall())
        if plan.target.batch > 1:
            request = batches.request(plan, [ran], batches.fitting_calls([ran], plan.job), access, at, TEST_LINE)
        else:
            request = plan.request(ran, access, at, TEST_LINE)
        sent.append(printable(_hidden(request.data.decode("utf-8", "replace"), access)))
        return request

    def begin(done: Callable[[Heard], None]) -> None:
        sender.send(sender.plan(job), make, done)

    began = boottime()
    result: Heard = await answered(begin)
    done = delivered(sender.plan(job), result, round((boottime() - began) * 1000))
    headers = _small(result.headers) if isinstance(result, Answer) else {}
    said = None if done.answer is None else printable(done.answer)
    return Tried(sent[0] if sent else None, done.outcome, done.status, headers, said, done.duration_ms)


def _attempt(job: Job, now: datetime, payload: Any) -> Instance:
    """An attempt that no row knows: nobody could answer for it later, so it has no token."""
    id_ = mint(job.shard, now)
    return Instance(
        shard=job.shard,
        id=id_,
        tenant_id=job.tenant_id,
        job_id=job.id,
        job_version=job.version,
        idem_key=f"test:{letters(id_)}",
        fire_time=now,
        due_at=now,
        state=State.RUNNING,
        attempt=1,
        payload=payload,
    )


def _hidden(text: str, access: Access) -> str:
    """Without what proves who we are."""
    if not access.line:
        return text
    name_and_scheme, _, _ = access.line.rpartition(" ")
    return text.replace(access.line, f"{name_and_scheme} {HIDDEN}\r\n")


def _small(headers: dict[str, str]) -> dict[str, str]:
    return {name: printable(value)[:LONGEST_VALUE] for name, value in list(headers.items())[:MOST_HEADERS]}
