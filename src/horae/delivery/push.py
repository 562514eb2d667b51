"""One attempt, pushed to its target: what is said, and what came of it."""

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from horae.delivery.client import Client
from horae.delivery.http import Answer, Failure, Request, compose, place_of
from horae.delivery.waiting import answered
from horae.domain.answers import judge
from horae.domain.calls import call_of
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.outcomes import ErrorCode, Outcome, Retryable, Unrecoverable
from horae.domain.targets import HttpTarget
from horae.runtime.clock import boottime

KEPT: Final = 2048
NOBODY: Final = Unrecoverable(ErrorCode.NO_TARGET, "the job has no target that can be called")


class Delivered(NamedTuple):
    """What came of an attempt, and what is worth keeping of it."""

    outcome: Outcome
    status: int | None
    duration_ms: int
    answer: str | None


class Sender:
    """Sends attempts through one client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def push(self, ran: Instance, job: Job, done: Callable[[Delivered], None]) -> None:
        """Send one attempt to the job's HTTP target; `done` is called once with what came of it."""
        target = job.definition.target
        if not isinstance(target, HttpTarget):
            done(Delivered(NOBODY, None, 0, None))
            return
        began = boottime()

        def heard(result: Answer | Failure) -> None:
            done(_delivered(result, round((boottime() - began) * 1000)))

        self.client.send(_request(ran, job, target), heard)

    async def deliver(self, ran: Instance, job: Job) -> Delivered:
        """Send one attempt and wait for what came of it."""
        return await answered(lambda done: self.push(ran, job, done))


def _request(ran: Instance, job: Job, target: HttpTarget) -> Request:
    headers = {"Content-Type": "application/json", **target.headers, "Idempotency-Key": ran.idem_key}
    body = msgspec.json.encode(call_of(ran, job))
    place = place_of(target.url)
    return compose(target.method, place, headers, body, target.connect_timeout, target.read_timeout)


def _delivered(result: Answer | Failure, duration_ms: int) -> Delivered:
    if isinstance(result, Failure):
        return Delivered(Retryable(result.code, result.message), None, duration_ms, None)
    text = result.body[:KEPT].decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return Delivered(judge(result.status, result.headers), result.status, duration_ms, text or None)
