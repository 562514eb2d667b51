"""Attempts, pushed to their targets: what is said, and what came of it."""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from horae.delivery import batches
from horae.delivery.auth import Access, access, bearer
from horae.delivery.client import Client
from horae.delivery.http import Answer, Failure, Request, failed
from horae.delivery.lines import Lines
from horae.delivery.oauth import Token, Tokens
from horae.delivery.plans import Forms, Plan
from horae.delivery.publish import publish
from horae.delivery.secrets import Secrets, Unsendable, named
from horae.delivery.waiting import answered
from horae.domain.answers import judge
from horae.domain.egress import Egress
from horae.domain.errors import KeysUnavailable, Unavailable
from horae.domain.foreign import read_text
from horae.domain.instances import Instance
from horae.domain.jobs import Definition, Job
from horae.domain.outcomes import ErrorCode, Outcome, Probed, Retryable, Unrecoverable
from horae.domain.targets import HttpTarget, TopicTarget
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log

KEPT: Final = 2048
MOST_PLANS: Final = 20_000
NOBODY: Final = Unrecoverable(ErrorCode.NO_TARGET, "the job has no target that can be called")
NO_BROKERS: Final = Probed(ErrorCode.NO_TARGET, "this process has no brokers")
UNAUTHORIZED: Final = 401

Heard = Answer | Failure | Outcome
"""An answer, no answer, or why nothing was sent."""


class Delivered(NamedTuple):
    """What came of an attempt, and what is worth keeping of it."""

    outcome: Outcome
    status: int | None
    duration_ms: int
    answer: str | None


class Sender:
    """Sends attempts through one client. A callback is called once, never before the call it was given to returns.

    `egress_of` says where a tenant with rules of its own may call; it raises `Unavailable` where that is not known.
    """

    def __init__(self, client: Client, secrets: Secrets | None = None, wall: Callable[[], float] = time.time) -> None:
        self.client = client
        self.secrets = secrets or named({})
        self.wall = wall  # receivers compare a signature's time with their own clocks
        self.egress_of: Callable[[UUID], Egress | None] = lambda _tenant_id: None
        self.lines: Lines | None = None  # where a deployment has brokers, they are put here
        self._publishing: set[asyncio.Task[Outcome]] = set()
        self._loop = asyncio.get_running_loop()
        self._tokens = Tokens(client)
        self._forms = Forms()
        self._plans: dict[int, tuple[Definition, Plan | None]] = {}

    def push(self, ran: Instance, job: Job, done: Callable[[Delivered], None]) -> None:
        """Send one attempt to the job's target."""
        plan, began = self.plan(job), boottime()
        if plan is None and isinstance(job.definition.target, TopicTarget):
            self._publish(ran, job, job.definition.target, done)
            return
        if plan is not None and plan.target.batch > 1:
            self.push_batch([ran], job, lambda all_: done(all_[0]))
            return

        def heard(result: Heard) -> None:
            done(delivered(plan, result, round((boottime() - began) * 1000)))

        self.send(plan, lambda made, access: made.request(ran, access, int(self.wall())), heard)

    def push_batch(self, runs: Sequence[Instance], job: Job, done: Callable[[list[Delivered]], None]) -> None:
        """Send several attempts of one job version: in one request, or by their bytes in several, one in each turn."""
        landed: dict[int, list[Delivered]] = {}
        many = len(runs)

        def land(first: int, found: list[Delivered]) -> None:
            landed[first] = found
            if sum(map(len, landed.values())) == many:
                done([one for place in sorted(landed) for one in landed[place]])

        def go_on(first: int, rest: Sequence[Instance]) -> None:
            part = len(rest)
            try:
                calls = batches.fitting_calls(rest, job)
                part = len(calls)
                self._push_part(rest[:part], calls, job, partial(land, first))
            except Exception as error:  # whoever asked has gone on
                land(first, [Delivered(_unjudged(error), None, 0, None)] * part)
            if part < len(rest):
                self._loop.call_soon(go_on, first + part, rest[part:])

        self._loop.call_soon(go_on, 0, runs)

    def _push_part(
        self, runs: Sequence[Instance], calls: Sequence[bytes], job: Job, done: Callable[[list[Delivered]], None]
    ) -> None:
        plan, began, many = self.plan(job), boottime(), len(runs)

        def heard(result: Heard) -> None:
            one = delivered(plan, result, round((boottime() - began) * 1000))
            if plan is None or not isinstance(result, Answer):
                done([one] * many)
                return
            try:
                found = batches.outcomes(result, many, plan.target.completion_seconds)
            except Exception as error:
                found = [_unjudged(error)] * many
            done([one._replace(outcome=outcome) for outcome in found])

        self.send(plan, lambda made, access: batches.request(made, runs, calls, access, int(self.wall())), heard)

    async def deliver(self, ran: Instance, job: Job) -> Delivered:
        """Send one attempt and wait for what came of it."""
        return await answered(lambda done: self.push(ran, job, done))

    def _publish(self, ran: Instance, job: Job, target: TopicTarget, done: Callable[[Delivered], None]) -> None:
        """To a broker: what it acknowledges has succeeded."""
        if self.lines is None:
            self._loop.call_soon(done, Delivered(NO_BROKERS, None, 0, None))
            return
        task = self._loop.create_task(publish(self.lines, ran, job, target))
        self._publishing.add(task)
        began = boottime()

        def ended(task: "asyncio.Task[Outcome]") -> None:
            self._publishing.discard(task)
            if task.cancelled():
                outcome: Outcome = Retryable(ErrorCode.CONNECT, "the node was stopped")
            elif (error := task.exception()) is not None:
                outcome = _unjudged(error)
            else:
                outcome = task.result()
            done(Delivered(outcome, None, round((boottime() - began) * 1000), None))

        task.add_done_callback(ended)

    def plan(self, job: Job) -> Plan | None:
        """How this job version is sent, kept because versions never change; None for a target nobody pushes to."""
        definition = job.definition
        kept = self._plans.get(id(definition))
        if kept is not None and kept[0] is definition:
            return kept[1]
        target = definition.target
        plan = Plan(job, target, self._forms.of(target)) if isinstance(target, HttpTarget) else None
        if len(self._plans) >= MOST_PLANS:
            del self._plans[next(iter(self._plans))]
        self._plans[id(definition)] = definition, plan
        return plan

    def send(self, plan: Plan | None, make: Callable[[Plan, Access], Request], heard: Callable[[Heard], None]) -> None:
        """Make a request with what its target's secrets come to, and send it."""
        if plan is None:
            self._loop.call_soon(heard, NOBODY)
            return
        try:
            found = access(plan.target, plan.job.tenant_id, self.secrets)
            egress = self.egress_of(plan.job.tenant_id)
            if egress is not None:
                found = found.within(egress)
            if found.grant is None:
                self.client.send(make(plan, found), heard)
            else:
                self._send_with_token(plan, found, make, heard)
        except Unsendable as error:
            self._loop.call_soon(heard, error.outcome)
        except KeysUnavailable as error:
            self._loop.call_soon(heard, Probed(ErrorCode.SEALED, str(error)))
        except Unavailable as error:
            self._loop.call_soon(heard, Probed(ErrorCode.UNSENDABLE, str(error)))

    def _send_with_token(
        self, plan: Plan, found: Access, make: Callable[[Plan, Access], Request], heard: Callable[[Heard], None]
    ) -> None:
        grant = found.grant
        assert grant is not None

        def go_on(token: Token | Outcome) -> None:
            if not isinstance(token, Token):
                heard(token)
                return

            def judge_token(result: Answer | Failure) -> None:
                if not isinstance(result, Answer) or result.status != UNAUTHORIZED:
                    heard(result)
                    return
                self._tokens.drop(grant, token)
                stale = Retryable(ErrorCode.HTTP_4XX, "answered 401; its token is fetched anew")
                heard(result if token.fresh else stale)

            try:
                line = bearer(token.value, grant.auth.client_secret)
                request = make(plan, found._replace(line=line))
            except Unsendable as error:
                heard(error.outcome)
            except Exception as error:  # whoever waited for a token has no caller any more that could be told
                heard(_unjudged(error))
            else:
                self.client.send(request, judge_token)

        self._tokens.use(grant, plan.target.connect_timeout, plan.target.read_timeout, go_on)


def delivered(plan: Plan | None, result: Heard, duration_ms: int) -> Delivered:
    """What a result means for the attempt. Whatever a stranger answered, it means something: the attempt has ended."""
    if isinstance(result, Answer):
        assert plan is not None
        try:
            outcome = judge(result.status, result.headers, plan.target.completion_seconds)
        except Exception as error:
            outcome = _unjudged(error)
        return Delivered(outcome, result.status, duration_ms, kept_of(result.body))
    if not isinstance(result, Failure):
        return Delivered(result, None, duration_ms, None)
    return Delivered(failed(result), None, duration_ms, None)


def _unjudged(error: BaseException) -> Outcome:
    """For an answer that our reader stumbled over."""
    log.error("answer.unjudged", exc_info=error)
    return Retryable(ErrorCode.PROTOCOL, f"what came back cannot be read: {type(error).__name__}")


def kept_of(body: bytes) -> str | None:
    """The beginning of an answer as text that a row can hold."""
    return read_text(body[:KEPT]) or None
