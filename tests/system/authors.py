"""Who asks during a run: authors who keep changing their minds, someone who pauses jobs, workers who may vanish."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

import msgspec

from horae.domain.instances.outcomes import Success
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import DelayTrigger
from horae.domain.targets.targets import HttpTarget
from horae.domain.workers.workers import ClaimedAttempt, FailureReport, Finish, FinishAnswer, Heartbeat
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.service.workers import workers
from tests.system.apilog import ApiLog
from tests.system.portfolio import AUDIT, PUBLISH, QUEUE, RETRY

WINDOW: Final = 40
MOST: Final = 20  # of a claim
VERSIONED: Final = 3  # every third key has an author who counts his intents


class Authors:
    """They share the keys, so that two may speak of one at the same time."""

    def __init__(self, ctx: Context, log: ApiLog, chance: random.Random, rate: float) -> None:
        self.ctx = ctx
        self.log = log
        self.chance = chance
        self.rate = rate
        self.asking = True
        self.running = True
        self.writing = 0
        self._first = 0
        self._intents: dict[str, int] = {}

    async def write(self) -> None:
        """Put, move, put now, cancel; about `rate` calls a second from one author."""
        while self.running:
            await self._breath(1 / self.rate)
            if not self.asking:
                continue
            type_name, key = self._key()
            version = self._intent(type_name, key)
            if self.chance.random() < 0.12:
                await self._cancel(type_name, key, version)
            else:
                await self._put(type_name, key, version)

    async def delay(self, url: str) -> None:
        """One-off jobs: asked for now, due in a moment, and complete afterwards."""
        number = 0
        while self.running:
            await self._breath(2)
            if self.asking:
                number += 1
                target = HttpTarget(f"{url}/ok", connect_timeout=1.0, read_timeout=1.5)
                made = Definition(trigger=DelayTrigger(self.chance.uniform(0, 4)), target=target, retry=RETRY)
                await create_job(self.ctx, self, f"once-{self.chance.getrandbits(32):08x}-{number}", made)

    async def pause(self, names: list[str]) -> None:
        """Now and then a job is paused for a few seconds."""
        paused: set[str] = set()
        while self.running:
            await self._breath(3)
            if not self.asking:
                continue
            name = self.chance.choice(names)
            verb: Callable[..., Awaitable[Any]] = jobs.resume if name in paused else jobs.pause
            op = verb.__name__
            if await self.call(op, lambda verb=verb, name=name: verb(self.ctx, name), told=_no_words, job=name):
                paused ^= {name}
            elif (found := await self._status(name)) is not None:
                paused = paused | {name} if found == "PAUSED" else paused - {name}

    async def _status(self, name: str) -> str | None:
        """After a call that nobody answered: what it did."""
        found = await self.call("find_job", lambda: jobs.find(self.ctx, name), told=_no_words, job=name)
        return None if found is None else str(found.status)

    async def _put(self, type_name: str, key: str, version: int | None) -> None:
        at = None
        if self.chance.random() > 0.1:
            at = datetime.now(UTC) + timedelta(seconds=self.chance.uniform(0.1, 5.0))
        payload: Any = {"n": self.chance.randrange(1000)} if self.chance.random() < 0.5 else msgspec.UNSET
        facts = {
            "at": at and at.isoformat(),
            "intent": version,
            "payload": None if payload is msgspec.UNSET else payload,
        }

        async def put() -> tasks.ScheduleAnswer:
            return await tasks.schedule(self.ctx, type_name, key, at=at, payload=payload, version=version)

        await self.call("put", put, job=type_name, key=key, **facts)

    async def _cancel(self, type_name: str, key: str, version: int | None) -> None:
        async def cancel() -> tasks.ScheduleAnswer:
            return await tasks.cancel(self.ctx, type_name, key, version=version)

        await self.call("cancel", cancel, job=type_name, key=key, intent=version)

    def _key(self) -> tuple[str, str]:
        """Of a type that is done after its success the keys move on; the other's come back for ever."""
        if self.chance.random() < 0.4:
            return AUDIT, f"audit-{self.chance.randrange(WINDOW)}"
        if self.chance.random() < 0.3:
            self._first += 1
        return PUBLISH, f"article-{self._first + self.chance.randrange(WINDOW)}"

    def _intent(self, type_name: str, key: str) -> int | None:
        if int(key.rpartition("-")[2]) % VERSIONED:
            return None
        newest = self._intents.get(f"{type_name}/{key}", 0) + 1
        self._intents[f"{type_name}/{key}"] = newest
        return newest if self.chance.random() > 0.1 else max(1, newest - 2)  # one that arrives out of order

    async def call(self, op: str, *args: Any, **facts: Any) -> Any:
        self.writing += 1
        try:
            return await self.log.call(op, *args, **facts)
        finally:
            self.writing -= 1

    async def _breath(self, mean: float) -> None:
        await asyncio.sleep(min(self.chance.expovariate(1 / mean), 4 * mean))


class Worker:
    """Claims, works a moment, is heard from when it takes longer, and finishes; now and then it vanishes instead."""

    def __init__(self, authors: Authors, name: str) -> None:
        self.authors = authors
        self.name = name

    async def work(self) -> None:
        while self.authors.running:
            claimed = await self._claim()
            if not claimed:
                await asyncio.sleep(0.15)
                continue
            if self.authors.chance.random() < 0.01:
                self.name = f"{self.name.partition('.')[0]}.{self.authors.chance.randrange(10**6)}"
                continue  # vanished with all of it; another comes in its place
            await asyncio.sleep(self.authors.chance.uniform(0, 0.1))
            if self.authors.chance.random() < 0.1:
                await self._beat(claimed)
            await self._finish(claimed)

    async def _claim(self) -> list[ClaimedAttempt]:
        ctx, log = self.authors.ctx, self.authors.log

        async def claim() -> list[ClaimedAttempt]:
            return await workers.claim(ctx, QUEUE, self.name, MOST)

        found = await log.call("claim", claim, told=_items, job=None, worker=self.name, limit=MOST)
        return found or []

    async def _beat(self, claimed: list[ClaimedAttempt]) -> None:
        held = [Heartbeat(one.instance_id, one.attempt, one.token) for one in claimed]
        beat = workers.heartbeat
        await self.authors.log.call("heartbeat", lambda: beat(self.authors.ctx, held), told=_items, worker=self.name)

    async def _finish(self, claimed: list[ClaimedAttempt]) -> None:
        """An answer that did not come is asked for again: the first report of an attempt counts."""
        reports = [Finish(one.instance_id, one.attempt, one.token, self._said()) for one in claimed]
        said = [type(one.report).__name__.lower() for one in reports]
        ctx, log = self.authors.ctx, self.authors.log

        async def finish() -> list[FinishAnswer]:
            return await workers.finish(ctx, reports)

        for _ in range(5):
            answers = await log.call("finish", finish, told=_items, worker=self.name, payload=said)
            if answers is not None and all(answer.verdict != "not_now" for answer in answers):
                return
            await asyncio.sleep(0.5)

    def _said(self) -> Success | FailureReport:
        return Success() if self.authors.chance.random() > 0.03 else FailureReport("try again")


class Calls(Protocol):
    """Whoever makes calls and writes them down."""

    async def call(self, op: str, work: Callable[[], Awaitable[Any]], **facts: Any) -> Any: ...


async def create_job(ctx: Context, log: Calls, name: str, made: Definition) -> bool:
    """With its whole definition in the log."""
    spec = msgspec.to_builtins(made)
    return (
        await log.call("create_job", lambda: jobs.create(ctx, name, made), told=_no_words, job=name, payload=spec)
        is not None
    )


def _no_words(job: Any) -> dict[str, Any]:
    return {"id": str(job.id), "version": job.version, "status": str(job.status), "next_fire_at": str(job.next_fire_at)}


def _items(answers: list[Any]) -> list[Any]:
    return [msgspec.to_builtins(answer) for answer in answers]
