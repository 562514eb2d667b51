"""One seed: what there is, what happens to it, and what was seen. Everything in it follows from its number."""

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from datetime import datetime, timedelta
from random import Random
from typing import Any

from horae.domain.jobs.jobs import Job
from horae.domain.tenants.tenants import Tenant
from horae.engine.allowances import Allowances
from horae.engine.node import Node
from horae.service.context import Context
from horae.store.cells import Cell
from horae.store.store import Store
from horae.store.tx import GONE
from tests.simulation import scene
from tests.simulation.day import at
from tests.simulation.driver import Pool
from tests.simulation.fates import Fates
from tests.simulation.loop import START, Process, VirtualLoop
from tests.simulation.people import Author, Said, Worker, let_go, operate
from tests.simulation.server import Server
from tests.simulation.target import Receiver, SimSender
from tests.simulation.witness import Witness

TTL = timedelta(seconds=8)
PATIENCE = 240.0
"""How long after the last fault everything may take to come to rest; far more than it should."""
SLOW_ON = 8.0
"""For so long after the last fault calls are slow at times: what was left behind comes past its deadline then."""
UNFINISHED = """
select 1 from job_cursor where next_fire_at is not null union all select 1 from job where status = 'PAUSED'
"""


class World:
    """Processes over one database, and the order in which they come."""

    def __init__(self, seed: int, server: Server, tenant: Tenant, bug: Any = None, *, traced: bool = False) -> None:
        self.seed = seed
        self.server = server
        self.tenant = tenant
        self.bug = bug
        self.dice = Random(seed)
        self.lots = Random(seed + 1)  # ids, tokens and jitter
        self.loop = VirtualLoop()
        self.outside = copy_context()
        self.violations: list[str] = []
        self.trace: list[str] | None = [] if traced else None
        self.listeners: list[Callable[[str], None]] = []
        self.acknowledged: list[Said] = []
        self.jobs: dict[str, Job] = {}
        self.keys: list[tuple[str, str]] = []
        self.counts = dict.fromkeys(("crashes", "pauses", "stops", "statements"), 0)
        self.in_transaction = self.over = False
        self._digest = hashlib.sha256()
        self.plan = scene.draw(self.dice)
        self.chaos = self.plan.chaos
        self.fates = Fates(self.dice, self.plan.harm)
        self.witness = Witness(self.now, self.violate)
        self.receiver = Receiver(self)
        self._nodes: dict[int, Process] = {}
        self._running: dict[Process, Node] = {}

    def now(self) -> datetime:
        return at(self.loop.time())

    @property
    def trace_hash(self) -> str:
        return self._digest.hexdigest()[:16]

    def tell(self, what: str, fact: object) -> None:
        """One line of what happened."""
        process = Process.current()
        self.counts["statements"] += 1
        line = f"{self.loop.time() - START:.6f} {process.name if process else '-'} {what} {fact}"
        self._digest.update(line.encode())
        if self.trace is not None:
            self.trace.append(line)

    def violate(self, what: str) -> None:
        self.tell("VIOLATION", what)
        self.violations.append(what)

    def planted(self, name: str, statement: str) -> str:
        return statement if self.bug is None else self.bug.statement(name, statement)

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> Process:
        """Something new that may crash or pause as a whole."""
        process = Process(name)
        self.loop.create_task(work, context=process.context())
        return process

    def crash(self, process: Process, when: str) -> None:
        self.counts["crashes"] += 1
        self.tell("crash", when)
        process.alive = False
        for number, one in self._nodes.items():
            if one is process:
                self.loop.call_later(self.dice.random() * 4, self._start_node, number, context=self.outside)

    def pause(self, process: Process, when: str) -> None:
        self.counts["pauses"] += 1
        process.paused_until = self.loop.time() + self.fates.pause()
        self.tell("pause", f"{when} until {process.paused_until - START:.3f}")

    def strike(self, rate: float, when: str) -> None:
        """The process of this moment may stop here, for a while or for good."""
        process = Process.current()
        if process is not None and self.fates.happens(rate):
            (self.crash if self.dice.random() < 0.3 else self.pause)(process, when)

    def notify(self, said: str) -> None:
        """A wake-up: to every listener, late, twice, or lost."""
        for heard in list(self.listeners):
            if not self.fates.happens(0.2):
                self.loop.call_later(self.fates.latency(), heard, said, context=self.outside)
            if self.fates.happens(0.1):
                self.loop.call_later(self.fates.latency() * 3, heard, said, context=self.outside)

    async def store(self) -> Store:
        """A store of one process: its own cell, with its own clock."""
        cell = Cell("cell", self.server.dsn)
        cell._pool = Pool(self)  # type: ignore[assignment]
        store = Store([cell])
        while True:
            try:
                await cell.sync_clock()
                await store.learn_shards()
                return store
            except GONE:
                await asyncio.sleep(0.5)

    def caller(self, name: str) -> Context:
        """Someone who asks the service, with a memory of their own and a clock that was read in peace."""
        cell = Cell("cell", self.server.dsn)
        cell._pool = Pool(self)  # type: ignore[assignment]
        cell.clock.set(self.now(), self.loop.time())
        store = Store([cell])
        store._cell_of = defaultdict(lambda: cell)  # type: ignore[assignment]
        return Context.of(store, self.tenant, name)

    async def run(self) -> None:
        """Set the scene, let it happen, wait for peace and for rest."""
        await scene.build(self, self.caller("scene"))
        self.fates.peace = self.fates.quick = False
        for number in range(self.plan.nodes):
            self._start_node(number)
        for number in range(self.plan.authors):
            self.spawn(f"author-{number}", Author(self, number).write(self.plan.calls))
        for number in range(self.plan.workers):
            self.spawn(f"worker-{number}", Worker(self, f"w{number}").work())
        if self.plan.operated:
            self.spawn("operator", operate(self, "steady"))
        await self._happen()
        self._heal()
        await self._rest()

    async def _happen(self) -> None:
        """The time of faults; processes may also be told to end, or struck while they wait for nothing."""
        until = START + self.chaos
        while self.loop.time() < until:
            await asyncio.sleep(0.5 + self.dice.random())
            for number, process in list(self._nodes.items()):
                if not process.alive or process.paused_until > self.loop.time():
                    continue
                if self.fates.happens(0.02):
                    self.crash(process, "at rest")
                elif self.fates.happens(0.02):
                    self.pause(process, "at rest")
                elif self.fates.happens(0.02) and process in self._running:
                    self.counts["stops"] += 1
                    self.tell("stop", process.name)
                    self.loop.create_task(self._restart(number, process), context=process.context())

    async def _restart(self, number: int, process: Process) -> None:
        """A rolling restart: asked to end, and started anew."""
        with_grace = self.dice.choice((0.0, 2.0, 20.0))
        await self._running.pop(process).stop(with_grace)
        process.alive = False
        self.loop.call_later(self.dice.random(), self._start_node, number, context=self.outside)

    def _heal(self) -> None:
        self.fates.peace = True
        self.tell("peace", "")
        if self.plan.workers:
            self.spawn("worker-last", Worker(self, "last").work())
        if self.plan.operated:
            self.spawn("operator-last", let_go(self, "steady"))

    async def _rest(self) -> None:
        """Until nothing lives and no cursor stands anywhere, or for far too long."""
        until = self.loop.time() + PATIENCE
        self.loop.call_later(SLOW_ON, setattr, self.fates, "quick", True, context=self.outside)
        while self.loop.time() < until:
            await asyncio.sleep(1.0)
            if await self._quiet():
                return
        self.violate(f"no rest within {PATIENCE:g} s of peace")

    async def _quiet(self) -> bool:
        if any(state in {"INIT", "RUNNING", "FAIL", "BLOCKED"} for state in self.witness.states.values()):
            return False
        if any(not process.alive for process in self._nodes.values()):
            return False
        return self.server.wait(self.server.connection.fetchval(UNFINISHED)) is None

    def _start_node(self, number: int) -> None:
        generation = self.counts["nodes"] = self.counts.get("nodes", 0) + 1
        self._nodes[number] = self.spawn(f"node-{number}.{generation}", self._live(number))

    async def _live(self, number: int) -> None:
        process = Process.current()
        assert process is not None
        store = await self.store()
        sender: Any = SimSender(self)
        node = Node(store, f"n{number}", TTL, sender, Allowances.of(store), enforced=self.plan.leased)
        self._running[process] = node
        await node.start()
