"""Pushes attempts to their targets, and turns what comes back into outcomes."""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from horae.delivery import batches
from horae.delivery.auth import Access, access, bearer
from horae.delivery.broker_connections import Lines
from horae.delivery.client import Client
from horae.delivery.http import Failure, HttpAnswer, HttpRequest, outcome_of_failure
from horae.delivery.oauth import Token, Tokens
from horae.delivery.publish import publish
from horae.delivery.request_plans import Forms, RequestPlan
from horae.delivery.secrets import Secrets, Unsendable, secrets_in_memory
from horae.delivery.waiting import wait_for_callback
from horae.domain.errors import KeysUnavailable, Unavailable
from horae.domain.foreign import Unreadable, read_text
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import (
    DeclinedCall,
    ErrorCode,
    FailedProbe,
    Outcome,
    Retryable,
    Success,
    Unrecoverable,
)
from horae.domain.jobs.jobs import Job
from horae.domain.targets.answers import judge
from horae.domain.targets.egress import Egress
from horae.domain.targets.reports import TargetReport, is_report, read_report
from horae.domain.targets.targets import MAX_TIMEOUT_S, HttpTarget, TopicTarget
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.runtime.tracing import Tracer

KEPT_BODY_BYTES: Final = 2048
"""Bytes of an answer's body that are kept with the attempt."""
NOBODY: Final = Unrecoverable(ErrorCode.NO_TARGET, "the job has no target that can be called")
"""The outcome of a job whose target cannot be called."""
NO_BROKERS: Final = FailedProbe(ErrorCode.NO_TARGET, "this process has no brokers")
"""The outcome of a topic target in a process without brokers."""
UNAUTHORIZED: Final = 401

EgressOf = Callable[[UUID], Egress | None]
"""Returns the egress rules of a tenant; None: those of the deployment apply."""
Heard = HttpAnswer | Failure | Outcome
"""An answer, a failure without an answer, or the outcome of an attempt for which nothing was sent."""


class Delivery(NamedTuple):
    """The outcome of an attempt, with the parts of the answer that are kept. `report`: its result and log lines."""

    outcome: Outcome
    status: int | None
    duration_ms: int
    answer: str | None
    report: TargetReport | None = None


class Sender:
    """Sends attempts through one client. A callback is called once, never before the method that took it returns.

    `egress_of` returns the egress rules of a tenant that has its own; it raises `Unavailable` where they are not known.
    `lines` are the connections to brokers; None: this process has no brokers. `tracer` says which calls are sampled;
    without one every call says that it is, so that its target decides by itself.
    """

    def __init__(
        self,
        client: Client,
        secrets: Secrets | None = None,
        wall: Callable[[], float] = time.time,
        *,
        egress_of: EgressOf = lambda _tenant_id: None,
        lines: Lines | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        self.client = client
        self.secrets = secrets or secrets_in_memory({})
        self.wall = wall  # real time: receivers compare a signature's time with their own clocks
        self.egress_of = egress_of
        self.lines = lines
        self.tracer = tracer
        self._publishing: set[asyncio.Task[Outcome]] = set()
        self._loop = asyncio.get_running_loop()
        self._tokens = Tokens(client)
        self._forms = Forms()

    def push(self, ran: Instance, job: Job, done: Callable[[Delivery], None]) -> None:
        """Send one attempt to the target of its job."""
        plan, began = self.plan(job), boottime()
        if plan is None and isinstance(job.definition.target, TopicTarget):
            self._publish(ran, job, job.definition.target, done)
            return
        if plan is not None and plan.target.batch > 1:
            self.push_batch([ran], job, lambda all_: done(all_[0]))
            return

        def heard(result: Heard) -> None:
            done(delivery_of(plan, result, round((boottime() - began) * 1000)))

        sampled = self.samples(ran)
        self.send(plan, lambda made, access: made.request(ran, access, int(self.wall()), sampled=sampled), heard)

    def push_batch(self, runs: Sequence[Instance], job: Job, done: Callable[[list[Delivery]], None]) -> None:
        """Send several attempts of one job version, in as few requests as their size allows.

        1. Each turn of the event loop encodes and sends one request: `fitting_calls` says how many attempts it carries.
        2. The rest is sent in the next turn, so that a large batch does not block the loop.
        3. `land` collects the results by their place, and calls `done` once, in the order of `runs`, when all are
           there.
        """
        landed: dict[int, list[Delivery]] = {}
        many = len(runs)

        def land(first: int, found: list[Delivery]) -> None:
            landed[first] = found
            if sum(map(len, landed.values())) == many:
                done([one for place in sorted(landed) for one in landed[place]])

        def go_on(first: int, rest: Sequence[Instance]) -> None:
            part = len(rest)
            try:
                calls = batches.fitting_calls(rest, job)
                part = len(calls)
                self._push_part(rest[:part], calls, job, partial(land, first))
            except Exception as error:  # the caller has returned: the error becomes an outcome
                land(first, [Delivery(_outcome_of_error(error), None, 0, None)] * part)
            if part < len(rest):
                self._loop.call_soon(go_on, first + part, rest[part:])

        self._loop.call_soon(go_on, 0, runs)

    def _push_part(
        self, runs: Sequence[Instance], calls: Sequence[bytes], job: Job, done: Callable[[list[Delivery]], None]
    ) -> None:
        """Send one request of a batch, and split its answer into the outcomes of its attempts."""
        plan, began, many = self.plan(job), boottime(), len(runs)

        def heard(result: Heard) -> None:
            one = delivery_of(plan, result, round((boottime() - began) * 1000))
            if plan is None or not isinstance(result, HttpAnswer):
                done([one] * many)
                return
            try:
                found = batches.outcomes(result, many, plan.target.completion_seconds)
            except Exception as error:
                found = [_outcome_of_error(error)] * many
            done([one._replace(outcome=outcome, report=None) for outcome in found])

        sampled = self.samples(runs[0])
        self.send(
            plan,
            lambda made, access: batches.request(made, runs, calls, access, int(self.wall()), sampled=sampled),
            heard,
        )

    def samples(self, ran: Instance) -> bool:
        """Whether the call of an attempt says that its trace is sampled."""
        return self.tracer is None or self.tracer.samples(ran.id.int, ran.caller_trace)

    async def deliver(self, ran: Instance, job: Job) -> Delivery:
        """Send one attempt and wait for its result."""
        return await wait_for_callback(lambda done: self.push(ran, job, done))

    def _publish(self, ran: Instance, job: Job, target: TopicTarget, done: Callable[[Delivery], None]) -> None:
        """Send to a broker; the attempt succeeds when the broker acknowledges it."""
        if self.lines is None:
            self._loop.call_soon(done, Delivery(NO_BROKERS, None, 0, None))
            return
        task = self._loop.create_task(publish(self.lines, ran, job, target, sampled=self.samples(ran)))
        self._publishing.add(task)
        began = boottime()

        def ended(task: "asyncio.Task[Outcome]") -> None:
            self._publishing.discard(task)
            if task.cancelled():
                outcome: Outcome = Retryable(ErrorCode.CONNECT, "the node was stopped")
            elif (error := task.exception()) is not None:
                outcome = _outcome_of_error(error)
            else:
                outcome = task.result()
            done(Delivery(outcome, None, round((boottime() - began) * 1000), None))

        task.add_done_callback(ended)

    def plan(self, job: Job) -> RequestPlan | None:
        """Return the request plan of a job version; None for other than HTTP.

        Only its form is remembered: a plan is made in less time than is needed to remember those of very many jobs.
        """
        target = job.definition.target
        return RequestPlan(job, target, self._forms.of(target)) if isinstance(target, HttpTarget) else None

    def send(
        self,
        plan: RequestPlan | None,
        make: Callable[[RequestPlan, Access], HttpRequest],
        heard: Callable[[Heard], None],
    ) -> None:
        """Resolve the target's secrets, build the request and send it.

        A missing secret, an unavailable key or unknown egress rules become an outcome; nothing is sent then.
        """
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
            self._loop.call_soon(heard, FailedProbe(ErrorCode.SEALED, str(error)))
        except Unavailable as error:
            self._loop.call_soon(heard, FailedProbe(ErrorCode.UNSENDABLE, str(error)))

    def _send_with_token(
        self,
        plan: RequestPlan,
        found: Access,
        make: Callable[[RequestPlan, Access], HttpRequest],
        heard: Callable[[Heard], None],
    ) -> None:
        """Send a request that needs an OAuth token.

        1. Get a token; without one the attempt ends with the outcome that `Tokens` returns.
        2. Build the request with the token and send it.
        3. After a 401 the token is dropped. A token that was fetched for this very attempt makes the 401 the result. An
           older token may have been withdrawn, so the attempt is retried.
        """
        grant = found.grant
        assert grant is not None

        def go_on(token: Token | Outcome) -> None:
            if not isinstance(token, Token):
                heard(token)
                return

            def judge_token(result: HttpAnswer | Failure) -> None:
                if not isinstance(result, HttpAnswer) or result.status != UNAUTHORIZED:
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
            except Exception as error:  # this callback has no caller: the error becomes an outcome
                heard(_outcome_of_error(error))
            else:
                self.client.send(request, judge_token)

        read_timeout = min(plan.target.read_timeout, MAX_TIMEOUT_S)  # a token is no long call
        self._tokens.use(grant, plan.target.connect_timeout, read_timeout, go_on)


def delivery_of(plan: RequestPlan | None, result: Heard, duration_ms: int) -> Delivery:
    """Return the delivery for a result. Every answer gets an outcome, even one that our reader fails on."""
    if isinstance(result, HttpAnswer):
        assert plan is not None
        try:
            outcome = judge(result.status, result.headers, plan.target.completion_seconds)
        except Exception as error:
            outcome = _outcome_of_error(error)
        if is_report(result.headers) and isinstance(outcome, Success | DeclinedCall):
            report, answer = _report_of(result)
            return Delivery(outcome, result.status, duration_ms, answer, report)
        return Delivery(outcome, result.status, duration_ms, body_excerpt(result.body))
    if not isinstance(result, Failure):
        return Delivery(result, None, duration_ms, None)
    return Delivery(outcome_of_failure(result), None, duration_ms, None)


def _report_of(answer: HttpAnswer) -> tuple[TargetReport | None, str | None]:
    """Return the report of an answer, or why it has none, to be kept with the attempt."""
    try:
        return read_report(answer.body, is_cut=answer.cut), None
    except Unreadable as error:
        return None, f"its report was not stored: {error}"


def _outcome_of_error(error: BaseException) -> Outcome:
    """Log the error, and return the outcome for an answer that our reader failed on."""
    log.error("response.unreadable", exc_info=error)
    return Retryable(ErrorCode.PROTOCOL, f"what came back cannot be read: {type(error).__name__}")


def body_excerpt(body: bytes) -> str | None:
    """Return the beginning of a body as text that a row can hold."""
    return read_text(body[:KEPT_BODY_BYTES]) or None
