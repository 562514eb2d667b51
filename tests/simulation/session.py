"""Seeds, one after the other, over one warm database; the product is given virtual time and seeded dice."""

import gc
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch
from uuid import UUID

import structlog

from horae.domain.placement import Layout, Placement, home_of
from horae.domain.tenants.tenants import Tenant
from horae.engine import node
from horae.engine.leases import keeper
from horae.runtime import clock, randomness
from horae.service.context import PlatformContext
from horae.service.tenants import tenants
from horae.store.connections import direct_connection
from horae.store.tx import CUT, GONE, TRY_AGAIN
from tests.simulation.bugs import Bug
from tests.simulation.checks import check
from tests.simulation.driver import Connection
from tests.simulation.leases import VirtualLeases
from tests.simulation.server import SHARDS, Server
from tests.simulation.world import World

TENANT = "acme"
COLLECTED_AFTER = 10
SELDOM = {
    "QUOTAS_INTERVAL_S": 5.0,
    "BACKFILLS_INTERVAL_S": 60.0,
    "TENANCIES_INTERVAL_S": 60.0,
    "LATE_FIRES_INTERVAL_S": 2.0,
    "DEFINITIONS_AHEAD_INTERVAL_S": 3.0,
}
"""Duties that find little to do here: no job has a shared limit or a backfill, and no tenant is paused as a whole."""
FAILURES = {"duty.failed", "batch.failed", "dispatch.failed", "fire.failed"}


class Result(NamedTuple):
    """What came of a seed."""

    seed: int
    violations: list[str]
    trace_hash: str
    counts: dict[str, int]
    seconds: float
    trace: list[str] | None


class Session:
    """A database, prepared for any number of seeds."""

    def __init__(self, dsn: str) -> None:
        self.server = Server(dsn)
        self.server.prepare(Placement(Layout.SPREAD, SHARDS).shards(home_of(TENANT)))
        self._ran = 0
        self.tenant = Tenant(UUID(int=0), TENANT, SHARDS)
        world = World(0, self.server, self.tenant)
        with installed(world):
            self.tenant = world.loop.run_until_complete(self._tenant(world))

    def run(self, seed: int, bug: Bug | None = None, *, traced: bool = False) -> Result:
        """One seed from beginning to end, and what it violated."""
        self.server.reset()
        self._ran += 1
        if self._ran % COLLECTED_AFTER == 0:
            gc.collect()
        world = World(seed, self.server, self.tenant, bug, traced=traced)
        with installed(world):
            if bug is not None:
                bug.plant(world)
            try:
                world.loop.run_until_complete(world.run())
                check(world)
            finally:
                if bug is not None:
                    bug.remove()
                world.over = True
                world.loop.close()
                if world.in_transaction:
                    self.server.wait(self.server.connection.execute("rollback"))
        for error in world.loop.errors:
            world.violations.append(f"unexpected: {error}")
        counts = world.counts | {
            "sends": world.witness.sends,
            "refused": world.witness.refused,
            "acknowledged": len(world.acknowledged),
            "instances": len(world.witness.states),
            "steps": world.loop.steps,
        }
        return Result(seed, world.violations, world.trace_hash, counts, world.loop.time() - 1000, world.trace)

    def close(self) -> None:
        self.server.close()

    async def _tenant(self, world: World) -> Tenant:
        return await tenants.create(PlatformContext(await world.store(), "simulation"), TENANT, width=SHARDS)


@contextmanager
def installed(world: World) -> Iterator[None]:
    """The product over the virtual loop: its clock, its dice, its driver, its log."""

    async def connect(*_args: object, **_facts: object) -> Connection:
        return Connection(world)

    def hear(_logger: object, _method: str, event: dict[str, Any]) -> Any:
        error = sys.exc_info()[1]
        world.tell("log", event["event"])
        if event["event"] in FAILURES and not world.over and not isinstance(error, (*GONE, *CUT, *TRY_AGAIN)):
            world.violate(f"unexpected: {event['event']} {error!r}")
        raise structlog.DropEvent

    ticks = SimpleNamespace(CLOCK_BOOTTIME=0, clock_gettime=lambda _which: world.loop.time())
    dice = SimpleNamespace(urandom=world.lots.randbytes)
    settings = structlog.get_config()
    gc.disable()  # between seeds, not in them
    with ExitStack() as stack:
        for where, name, what in (
            (clock, "time", ticks),
            (randomness, "os", dice),
            (randomness, "_bits", world.lots.getrandbits),
            (randomness, "fraction", world.lots.random),
            (keeper, "fraction", world.lots.random),
            (direct_connection, "connect_to_primary", connect),
            (node, "Leases", VirtualLeases),
            *((node, name, pause) for name, pause in SELDOM.items()),
        ):
            stack.enter_context(patch.object(where, name, what))
        structlog.configure(processors=[hear], wrapper_class=structlog.BoundLogger)
        try:
            yield
        finally:
            structlog.configure(**settings)
            gc.enable()
