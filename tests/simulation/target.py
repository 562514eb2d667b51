"""The receiving side: it honours the idempotency key, and its network loses, delays and doubles what it carries."""

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

from horae.delivery.push import Delivery
from horae.domain.errors import HoraeError
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import (
    AcceptedCall,
    DeclinedCall,
    ErrorCode,
    Outcome,
    Retryable,
    Success,
    Unrecoverable,
)
from horae.domain.jobs.jobs import Job
from horae.domain.targets.targets import HttpTarget
from horae.domain.workers.completion_tokens import completion_token
from horae.domain.workers.workers import Finish, ReportVerdict
from horae.service.workers import workers
from horae.store.tx import GONE
from tests.simulation.loop import Process

if TYPE_CHECKING:
    from tests.simulation.world import World

FIVE_HUNDRED = Retryable(ErrorCode.HTTP_5XX, "answered 500")
TIMEOUT = Retryable(ErrorCode.TIMEOUT, "no answer")
HEARD = 6


class Receiver:
    """Takes effect once per idempotency key, in one transaction with the key, whoever hears of it then."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.effects: Counter[str] = Counter()
        self.received = 0

    def take(self, idem_key: str) -> None:
        if idem_key not in self.effects:
            self.effects[idem_key] += 1

    def call(self, ran: Instance, job: Job) -> Outcome | None:
        """What it does and answers; None when it did it and the answer is lost."""
        self.received += 1
        drawn = self.world.dice.random()
        if drawn < 0.08:
            return FIVE_HUNDRED
        if drawn < 0.10 and job.name != "steady":
            return DeclinedCall("not now")
        if drawn < 0.11 and job.name != "steady":
            return Unrecoverable(ErrorCode.HTTP_4XX, "answered 400")
        if drawn < 0.25:
            assert isinstance(job.definition.target, HttpTarget)
            self.world.spawn("target", self._finish_later(ran))
            return AcceptedCall(job.definition.target.completion_seconds)
        self.take(ran.idem_key)
        return None if drawn < 0.30 and not self.world.fates.peace else Success()

    async def _finish_later(self, ran: Instance) -> None:
        """Long work that was answered with 202: it ends with its completion token."""
        assert ran.token is not None
        await asyncio.sleep(self.world.dice.random() * 3)
        self.take(ran.idem_key)
        said = Finish(ran.id, ran.attempt, completion_token(ran.id, ran.attempt, ran.token), Success())
        ctx = self.world.caller("target")
        for _ in range(HEARD):
            try:
                [answer] = await workers.finish(ctx, [said])
            except (*GONE, HoraeError):
                answer = None
            if answer is not None and answer.verdict is not ReportVerdict.NOT_NOW:
                return
            await asyncio.sleep(0.3)


class SimSender:
    """Stands where the HTTP sender stands: a call is answered once, or times out."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.client = SimpleNamespace(close=self._close)
        self.tracer = None

    async def _close(self) -> None:
        """There is nothing to hang up."""

    def push(self, ran: Instance, job: Job, done: Callable[[Delivery], None]) -> None:
        world, loop, fates = self.world, self.world.loop, self.world.fates
        target = job.definition.target
        assert isinstance(target, HttpTarget)
        world.witness.sent(ran)
        world.tell("send", f"{ran.idem_key} {ran.attempt}")
        world.strike(0.06, "with a call in flight")
        wait = partial(loop.call_later, target.connect_timeout + target.read_timeout, once := Once(done), TIMEOUT)
        wait()
        if fates.happens(0.02):
            return  # never arrives
        answer = partial(self._arrive, ran, job, once, Process.current())
        outside = world.outside
        loop.call_later(fates.latency(), answer, context=outside)
        if fates.happens(0.03):
            loop.call_later(fates.latency() + world.dice.random() * 6, answer, context=outside)

    def _arrive(self, ran: Instance, job: Job, once: "Once", sender: Process | None) -> None:
        world = self.world
        outcome = world.receiver.call(ran, job)
        world.tell("receive", f"{ran.idem_key} {type(outcome).__name__}")
        if outcome is not None and not world.fates.happens(0.03):
            context = world.outside if sender is None else sender.context()
            world.loop.call_later(world.fates.work() + world.fates.latency(), once, outcome, context=context)


class Once:
    """The first result of a call counts, as it does for an HTTP connection."""

    def __init__(self, done: Callable[[Delivery], None]) -> None:
        self.done: Callable[[Delivery], None] | None = done

    def __call__(self, outcome: Outcome) -> None:
        done, self.done = self.done, None
        if done is not None:
            done(Delivery(outcome, None, 1, None))
