"""One attempt, pushed to its target: what is said, and what came of it."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from horae.delivery import http
from horae.domain.answers import judge
from horae.domain.ids import Prefix, public
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.outcomes import ErrorCode, Outcome, Retryable, Unrecoverable
from horae.domain.targets import HttpTarget
from horae.runtime.clock import boottime

KEPT: Final = 2048


class Call(msgspec.Struct, frozen=True):
    """The body a target receives."""

    job: str
    instance: str
    fire_time: datetime
    attempt: int
    idempotency_key: str
    key: str | None = None
    payload: object = None


class Delivered(NamedTuple):
    """What came of an attempt, and what is worth keeping of it."""

    outcome: Outcome
    status: int | None
    duration_ms: int
    answer: str | None


async def push(ran: Instance, job: Job) -> Delivered:
    """Send one attempt to the job's HTTP target."""
    target = job.definition.target
    if not isinstance(target, HttpTarget):
        return Delivered(Unrecoverable(ErrorCode.NO_TARGET, "the job has no target that can be called"), None, 0, None)
    began = boottime()
    status, answer, outcome = await _try(_request(ran, job, target))
    return Delivered(outcome, status, round((boottime() - began) * 1000), answer)


def _request(ran: Instance, job: Job, target: HttpTarget) -> http.Request:
    payload = job.definition.payload if ran.payload is None else ran.payload
    instance = public(Prefix.INSTANCE, ran.id)
    call = Call(job.name, instance, ran.fire_time, ran.attempt, ran.idem_key, ran.business_key, payload)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "horae",
        **target.headers,
        "Idempotency-Key": ran.idem_key,
    }
    body = msgspec.json.encode(call)
    return http.Request(target.method, target.url, headers, body, target.connect_timeout, target.read_timeout)


async def _try(request: http.Request) -> tuple[int | None, str | None, Outcome]:
    try:
        answer = await http.send(request)
    except http.ConnectFailed as error:
        return None, None, Retryable(ErrorCode.CONNECT, str(error))
    except TimeoutError:
        return None, None, Retryable(ErrorCode.TIMEOUT, f"no answer within {request.read_timeout:g} s")
    except (http.BadAnswer, OSError) as error:
        return None, None, Retryable(ErrorCode.PROTOCOL, str(error) or type(error).__name__)
    text = answer.body[:KEPT].decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return answer.status, text or None, judge(answer.status, answer.headers)


class Sender:
    """Sends attempts."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def push(self, ran: Instance, job: Job, done: Callable[[Delivered], None]) -> None:
        """Send one attempt."""

        async def work() -> None:
            done(await push(ran, job))

        task = asyncio.get_running_loop().create_task(work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
