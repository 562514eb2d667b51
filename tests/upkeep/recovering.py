"""What tests of recovery do: prepare two tenants with dead letters and events, start an incident, and work on it."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from horae.domain.events.channels import Subscription, TopicAddress
from horae.domain.fire_audit.comparison import GRACE
from horae.domain.incidents.incidents import Incident, IncidentGrade, RecoveryStep
from horae.domain.instances.outcomes import ErrorCode, Unrecoverable
from horae.service.context import Context, PlatformContext
from horae.service.events import subscriptions
from horae.service.incidents import incidents
from horae.service.tasks import tasks
from horae.store.cells import Cell
from horae.store.events import feeds
from horae.store.store import Store
from horae.upkeep.recovery import RecoveryExecutor
from horae.upkeep.recovery_steps import LEASE_TTL
from tests.steps import claim_everywhere, move_clock, query, settle

TYPE = "ARTICLE_PUBLISH"
BUSY = Unrecoverable(ErrorCode.HTTP_5XX, "answered 503")
GONE = Unrecoverable(ErrorCode.HTTP_4XX, "answered 404")
HOLD_ALL = """
    with one as (insert into node (started_at, seen_at, expires_at, incarnation, name)
                 values ($1, $1, $1::timestamptz + interval '1 day', gen_random_uuid(), 'node-1') returning incarnation)
    update shard s set owner = one.incarnation from one where s.state = 'ACTIVE'"""


class KilledError(BaseException):
    """The coordinator was killed: nothing that it would do next happens, and nothing of ours catches it."""


class Killer:
    """Kills whoever works with the cells after some transactions have committed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
        self.left: int | None = None
        for cell in store.cells:
            monkeypatch.setattr(cell, "run", self._run(cell.run))

    def _run(self, run: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
        async def counted(work: Any) -> Any:
            done = await run(work)
            if self.left is not None:
                self.left -= 1
                if self.left <= 0:
                    raise KilledError
            return done

        return counted


async def hold_shards(store: Store) -> None:
    """A living node holds every shard."""
    for cell in store.cells:
        await query(cell, HOLD_ALL, cell.clock.now())


async def let_die(ctx: Context, store: Store, *keys: str, outcome: Unrecoverable = BUSY) -> None:
    """Tasks that die."""
    for key in keys:
        await tasks.schedule(ctx, TYPE, key)
    while claimed := await claim_everywhere(store):
        for ran in claimed:
            await settle(store, ran, outcome)


async def subscribe(ctx: Context, name: str) -> None:
    """A subscription that was sent everything until now."""
    await subscriptions.put(ctx, name, Subscription(TopicAddress("main", f"{ctx.tenant.name}.events"), ("TASK_*",)))
    for cell in ctx.store.cells:
        async with cell.tx() as tx:
            await feeds.mark(tx)


async def start(store: Store, grade: IncidentGrade = IncidentGrade.P1) -> Incident:
    return await incidents.start(PlatformContext(store, "operator"), grade, "the primary is lost")


async def show(store: Store, id_: UUID) -> incidents.IncidentDetail:
    return await incidents.show(PlatformContext(store, "operator"), id_)


async def complete(store: Store, id_: UUID, rounds: int = 60) -> incidents.IncidentDetail:
    """A new executor does what is left, as soon as the lease of the one before has run out."""
    await move_clock(store, seconds=LEASE_TTL.total_seconds() + 1)
    executor = RecoveryExecutor(store, uuid4())
    for _ in range(rounds):
        await executor.once()
        found = await show(store, id_)
        if found.incident.ended_at is not None:
            return found
        if found.incident.step is RecoveryStep.AUDIT:
            await move_clock(store, seconds=GRACE.total_seconds())
    raise AssertionError(found)


async def overrides(store: Store) -> list[bool]:
    """For each cell whether the measure of incidents is set."""
    found = []
    for cell in store.cells:
        rows = await query(cell, "select from measure where name = 'incident' and override is not null")
        found.append(bool(rows))
    return found


async def revisions(cell: Cell) -> set[int]:
    return {row["revision"] for row in await query(cell, "select revision from feed_position")}
