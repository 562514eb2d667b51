"""Planted bugs on the whole cluster: the fault in which each of them bites, and which checks may see it."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from horae.service.context import Context
from horae.service.workers import workers
from horae.store.store import Store
from tests.system import checker
from tests.system.apilog import ApiLog
from tests.system.checker import Verdict
from tests.system.cluster import Cluster
from tests.system.experiment import RECORDED, Experiment
from tests.system.faults.clocks import NodeClock
from tests.system.faults.fault import Facts, Fault
from tests.system.faults.network import LoseReplies
from tests.system.faults.nodes import KillAll, KillNode
from tests.system.portfolio import QUEUE

TRIES = 6
SETTLED = 30.0  # what is overdue for so long is not merely late


class Glimpse(Fault):
    """An owner freezes until its work has just been taken over, and comes back while the heir's calls are on."""

    name = "pause"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return chance.uniform(1.3, 2.0) * cluster.ttl

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        node = chance.choice(cluster.nodes)
        try:
            await asyncio.to_thread(cluster.target.mode, "/slow/1300")
            await asyncio.sleep(1.3)
            node.pause()
            yield {"node": node.name}
        finally:
            node.resume()
            await asyncio.sleep(1.5)
            await asyncio.to_thread(cluster.target.mode, "/own")


class Relapse(Fault):
    """An owner freezes with calls in flight that will not be answered, and comes back while it is being rescued."""

    name = "pause"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return chance.uniform(2.0, 3.0) * cluster.ttl

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        node = chance.choice(cluster.nodes)
        try:
            await asyncio.to_thread(cluster.target.mode, "/hang")
            await asyncio.sleep(1.2)
            node.pause()
            await asyncio.to_thread(cluster.target.mode, "/own")
            yield {"node": node.name}
        finally:
            node.resume()
            await asyncio.to_thread(cluster.target.mode, "/own")


class LoseMany(LoseReplies):
    """One in five."""

    one_in = 5


@dataclass(frozen=True)
class Trial:
    """`faults` in turn, each followed by so many seconds in which it may show."""

    faults: tuple[Fault, ...]
    seen_by: frozenset[str]
    wait: float = 5.0


TRIALS = {
    "token-dropped": Trial((Glimpse(),), frozenset({"token"}), 2.0),
    "local-clock": Trial((NodeClock("+1h"), NodeClock("+10m")), frozenset({"early", "skip", "unexpected"})),
    "next-from-now": Trial((KillAll(),), frozenset({"lost"})),
    "unguarded-rescue": Trial((Relapse(),), frozenset({"state"}), 8.0),
    "claim-in-limit": Trial((), frozenset({"limit"})),
    "hostname-identity": Trial((), frozenset({"identity"})),
    "persisted-bound": Trial((KillNode(),), frozenset({"lost", "stuck"})),
    "run-time-deadline": Trial((LoseMany(),), frozenset({"stuck"}), 42.0),
}


async def judged(run: Experiment) -> Verdict:
    """The verdict, once all has settled; but a bug may keep it from ever doing so."""
    load = run.cluster.load
    assert load is not None
    await load.tell("quiet", patience=40)
    try:
        await run.settle(SETTLED)
        evidence = run.evidence(time.time() - RECORDED)
        return await checker.check(replace(evidence, nodes=len(run.cluster.nodes)))
    finally:
        await load.tell("go_on")


async def tried(name: str, run: Experiment, chance: random.Random) -> Verdict:
    """Strike until it shows, but not for ever."""
    trial = TRIALS[name]
    verdict = await _once(name, trial, run, chance)
    for _ in range(TRIES - 1):
        if verdict.broken & trial.seen_by:
            break
        verdict = await _once(name, trial, run, chance)
    return verdict


async def _once(name: str, trial: Trial, run: Experiment, chance: random.Random) -> Verdict:
    if name == "claim-in-limit":
        await _claim_one(run)
    if trial.faults:
        run.strikes.append(await chance.choice(trial.faults).strike(run.cluster, chance))
        await asyncio.sleep(trial.wait)
    return await judged(run)


async def _claim_one(run: Experiment) -> None:
    """A worker of our own in this process, which has the bug too, asks for one at a time and vanishes with it."""
    assert run.cluster.load is not None
    log = ApiLog(run.cluster.load.api_log)
    async with Store.of(run.cluster.settings()) as store:
        ctx = Context.of(store, run.cluster.tenant, "test")
        claim = partial(workers.claim, ctx, QUEUE, "modest", 1)
        for _ in range(40):
            found = await log.call("claim", claim, told=msgspec.to_builtins, worker="modest", limit=1)
            if found and len(found) > 1:
                break
            await asyncio.sleep(0.1)
    log.close()
