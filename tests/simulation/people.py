"""Those who ask: authors who move their tasks, workers who pull, an operator who pauses and resumes."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from horae.domain.errors import Conflict, HoraeError
from horae.domain.instances.outcomes import Success
from horae.domain.workers.workers import ClaimedAttempt, FailureReport, Finish, Heartbeat, ReportVerdict
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.service.tasks.tasks import ScheduleAnswer
from horae.service.workers import workers
from horae.store.tx import GONE

if TYPE_CHECKING:
    from tests.simulation.world import World

TRIES = 8


class Said(NamedTuple):
    """An answer that an author was given, and when they asked and heard it."""

    type_name: str
    key: str
    asked_at: float
    heard_at: float
    at: datetime | None
    answer: ScheduleAnswer


class Author:
    """Sets and moves times, and now and then cancels. What was not acknowledged is asked again, or given up."""

    def __init__(self, world: "World", number: int) -> None:
        self.world = world
        self.number = number

    async def write(self, calls: int) -> None:
        dice = self.world.dice
        ctx = self.world.caller("author")
        favourite: tuple[str, str] | None = None
        for n in range(calls):
            if favourite is None:
                await asyncio.sleep(dice.random() * self.world.chaos / calls * 1.6)
            type_name, key = favourite or dice.choice(self.world.keys)
            favourite = None
            at = None
            if dice.random() < 0.85:
                moment = self.world.now() + timedelta(milliseconds=dice.randint(-300, 2500))
                # A time nobody else asks for: its microseconds name the author and the call.
                at = moment.replace(microsecond=moment.microsecond // 1000 * 1000 + self.number * 100 + n)
            for _ in range(dice.choice((1, TRIES))):
                asked_at = self.world.loop.time()
                try:
                    if at is None:
                        answer = await tasks.cancel(ctx, type_name, key)
                    else:
                        answer = await tasks.schedule(ctx, type_name, key, at=at)
                except (*GONE, HoraeError):
                    await asyncio.sleep(0.1 + dice.random())
                    continue
                heard_at = self.world.loop.time()
                self.world.tell("acknowledged", f"{key} {answer.decision} {answer.revision}")
                self.world.acknowledged.append(Said(type_name, key, asked_at, heard_at, at, answer))
                if at is not None and dice.random() < 0.5:
                    await self._just_before(at)
                    favourite = type_name, key
                break

    async def _just_before(self, at: datetime) -> None:
        """The moment in which a change of mind meets the fire."""
        left = (at - self.world.now()).total_seconds() + self.world.dice.uniform(-0.012, 0.008)
        await asyncio.sleep(max(left, 0.0))


class Worker:
    """Claims from a queue, beats, and finishes; it takes effect at the receiver, under the key it was given."""

    def __init__(self, world: "World", name: str) -> None:
        self.world = world
        self.name = name

    async def work(self) -> None:
        ctx = self.world.caller(self.name)
        while True:
            try:
                for one in await workers.claim(ctx, "pulled", self.name, 10):
                    await self._do(one)
            except (*GONE, HoraeError):
                pass
            await asyncio.sleep(1.3)

    async def _do(self, one: ClaimedAttempt) -> None:
        world, dice, ctx = self.world, self.world.dice, self.world.caller(self.name)
        await asyncio.sleep(dice.random() * 2)
        if dice.random() < 0.3:
            [beat] = await workers.heartbeat(ctx, [Heartbeat(one.instance_id, one.attempt, one.token)])
            if not beat.yours:
                return
            await asyncio.sleep(dice.random() * 3)
        failed = dice.random() < 0.1
        if not failed:
            world.receiver.take(one.idempotency_key)
        said = Finish(one.instance_id, one.attempt, one.token, FailureReport("could not") if failed else Success())
        for _ in range(TRIES):
            try:
                [answer] = await workers.finish(ctx, [said])
            except (*GONE, HoraeError):
                await asyncio.sleep(0.3)
                continue
            if answer.verdict is not ReportVerdict.NOT_NOW:
                return
            await asyncio.sleep(0.3)


async def operate(world: "World", name: str) -> None:
    """Pause a job for a while and let it go on."""
    ctx = world.caller("operator")
    await asyncio.sleep(world.dice.random() * world.chaos * 0.6)
    await _insist(lambda: jobs.pause(ctx, name))
    await asyncio.sleep(world.dice.random() * world.chaos * 0.3)
    await _insist(lambda: jobs.resume(ctx, name))


async def let_go(world: "World", name: str) -> None:
    """Whatever became of the first operator: nothing stays paused."""
    ctx = world.caller("operator")
    await _insist(lambda: jobs.resume(ctx, name))


async def _insist(verb: Callable[[], Awaitable[object]]) -> None:
    while True:
        try:
            await verb()
        except Conflict:
            return  # it was done before, or its schedule is over
        except (*GONE, HoraeError):
            await asyncio.sleep(0.2)
        else:
            return
