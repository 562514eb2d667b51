"""A small run in this process: two real cells, a target with its ledger, an API log, and nodes led by hand.

Where a bug needs one unlucky order of events, a whole cluster shows it now and then; here the order is played out.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from horae.delivery.client import Client
from horae.delivery.push import Sender
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import Retryable
from horae.domain.instances.retries import RetryPolicy
from horae.domain.jobs.jobs import Definition, Job
from horae.domain.schedules.triggers import Trigger
from horae.domain.targets.targets import HttpTarget
from horae.engine.node import Node
from horae.repositories.settle import AttemptOutcome
from horae.runtime.settings import CellSettings
from horae.service.context import Context, PlatformContext
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.store.instances.instances import Attempt
from horae.store.store import Store
from horae.upkeep.copies import Copier
from tests.egress import ANYWHERE
from tests.nodes import node_in
from tests.steps import move_clock
from tests.system.apilog import ApiLog
from tests.system.authors import create_job
from tests.system.checker import Verdict, check
from tests.system.evidence import Evidence, Strike
from tests.system.target import Ledger, Target, Visit

QUICK = RetryPolicy(base=0.1, jitter_min=0.0, jitter_max=0.0)
TTL = 60.0


class Stage:
    """What a scene may use. `strikes` and `nodes` go into the evidence."""

    def __init__(self, store: Store, ctx: Context, folder: Path, url: str) -> None:
        self.store, self.ctx, self.folder, self.url = store, ctx, folder, url
        self.ledger, self.log = folder / "ledger.sqlite", ApiLog(folder / "calls.jsonl")
        self.sender = Sender(Client(ANYWHERE))
        self.began = datetime.now(UTC)
        self.moved = timedelta()
        self.strikes: list[Strike] = []
        self._led: list[Node] = []
        self.nodes: int | None = None
        self.seen: Verdict | None = None  # by scenes whose nodes must still serve when they are judged

    async def job(self, name: str, trigger: Trigger, path: str = "/ok", **facts: Any) -> Job:
        facts = {"target": HttpTarget(f"{self.url}{path}"), "retry": QUICK} | facts
        assert await create_job(self.ctx, self.log, name, Definition(trigger=trigger, **facts))
        await Copier(self.store).once()  # a type's tasks may live in the other cell
        return await jobs.find(self.ctx, name)

    async def put(self, type_name: str, key: str, seconds: float = 0.0) -> None:
        """Ask for a time, so many seconds from now by the cells' clock."""
        at = self.now() + timedelta(seconds=seconds)

        async def put() -> tasks.ScheduleAnswer:
            return await tasks.schedule(self.ctx, type_name, key, at=at)

        assert await self.log.call("put", put, job=type_name, key=key, at=at.isoformat())

    def now(self) -> datetime:
        """The cells' time as the host knows it."""
        return datetime.now(UTC) + self.moved

    async def pass_time(self, seconds: float) -> None:
        """Let time pass for every process at once."""
        await move_clock(self.store, seconds=seconds)
        self.moved += timedelta(seconds=seconds)

    def node(self) -> Node:
        """A node that was not started: `drain` does what is due."""
        node = node_in(self.store, "host", timedelta(seconds=TTL))
        self._led.append(node)
        return node

    async def close(self) -> None:
        for node in self._led:
            await node.leave()
        await self.sender.client.close()
        self.log.close()

    async def deliver(self, ran: Instance, job: Job) -> AttemptOutcome:
        """Make the call of an attempt; what came of it is still to be settled."""
        found = await self.sender.deliver(ran, job)
        code = found.outcome.code if isinstance(found.outcome, Retryable) else None
        kept = Attempt(ran.attempt, found.status, code, found.duration_ms, found.answer)
        return AttemptOutcome(ran, job, found.outcome, kept)

    def struck(self, name: str) -> None:
        """What was played stands for this fault, from the beginning until now."""
        self.strikes.append(Strike(name, self.began.timestamp(), time.time()))

    async def verdict(self) -> Verdict:
        dsns = [cell.dsn for cell in self.store.cells]
        ended = datetime.now(UTC)
        log = self.folder / "calls.jsonl"
        began = self.began - self.moved  # the checker adds the offset of the end to it
        return await check(Evidence(dsns, self.ledger, log, began, ended, TTL, self.strikes, (), self.nodes))


@asynccontextmanager
async def staged(cells: Sequence[CellSettings], folder: Path) -> AsyncIterator[Stage]:
    """Everything a scene needs, while the block lasts."""
    ledger = Ledger(folder / "ledger.sqlite")
    target = Target(ledger)
    server = await asyncio.get_running_loop().create_server(lambda: Visit(target), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with Store.of(cells) as store:
        tenant = await tenants.create(PlatformContext(store, "test"), "acme", width=4096)
        stage = Stage(store, Context.of(store, tenant, "test"), folder, url)
        try:
            yield stage
        finally:
            await stage.close()
            server.close()
            await server.wait_closed()
            ledger.close()
