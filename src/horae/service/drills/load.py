"""The load of a drill: jobs that fire every second, and tasks whose creation is acknowledged.

All of it belongs to the tenant `drill`. The jobs have an end, so that they stop also when the drill is killed.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from horae.domain.drills.drills import DRILL_TENANT
from horae.domain.drills.recovery import PERIOD, AcknowledgedWrite
from horae.domain.errors import Conflict, NotFound
from horae.domain.jobs.jobs import Definition
from horae.domain.placement import SHARDS
from horae.domain.schedules.policies import Policies
from horae.domain.schedules.triggers import IntervalTrigger, KeyedTrigger
from horae.domain.targets.targets import HttpTarget
from horae.domain.tenants.tenants import TenantStatus
from horae.service.audit.fires import AuditRange, audit_fires, sum_up
from horae.service.context import CallerContext, Context
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.service.tenants import lifecycle, tenants

FIRST_FIRE_AFTER: Final = timedelta(seconds=2)
FAR: Final = datetime(2100, 1, 1, tzinfo=UTC)
"""When the acknowledged tasks are due: never during a drill."""
LABELS: Final = {"made-by": "horae drill"}


class DrillLoad:
    """Jobs and a type of one drill. `anchors` has the first fire of each job by its name."""

    def __init__(self, ctx: Context, name: str) -> None:
        self.ctx = ctx
        self.anchors: dict[str, datetime] = {}
        self.acknowledged: list[AcknowledgedWrite] = []
        self._name = name

    async def create(self, url: str, fires_per_s: int, ends_at: datetime) -> None:
        """Create `fires_per_s` jobs that fire once a second each, spread over the second, and call this URL."""
        first = self.ctx.now() + FIRST_FIRE_AFTER
        for number in range(fires_per_s):
            name, anchor = f"{self._name}-{number}", _whole_ms(first + number * PERIOD / fires_per_s)
            made = Definition(
                trigger=IntervalTrigger(PERIOD.total_seconds(), anchor),
                target=HttpTarget(url),
                policies=Policies(end=ends_at),
                labels=LABELS,
            )
            await jobs.create(self.ctx, name, made)
            self.anchors[name] = anchor
        await jobs.create(
            self.ctx, self._type, Definition(trigger=KeyedTrigger(), target=HttpTarget(url), labels=LABELS)
        )

    async def write(self, number: int) -> None:
        """Create one task. It counts as acknowledged when this returns."""
        key = f"{self._name}-{number}"
        await tasks.schedule(self.ctx, self._type, key, at=FAR)
        self.acknowledged.append(AcknowledgedWrite(key, self.ctx.now()))

    async def known(self, keys: Iterable[str]) -> set[str]:
        """Which of these tasks the cells know."""
        found = set()
        for key in keys:
            try:
                await tasks.show(self.ctx, self._type, key)
            except NotFound:
                continue
            found.add(key)
        return found

    async def remove(self) -> None:
        """Remove the jobs and the type; their rows stay for their term."""
        for name in (*self.anchors, self._type):
            try:
                await jobs.remove(self.ctx, name)
            except NotFound:
                continue  # it ended by itself

    @property
    def _type(self) -> str:
        return f"{self._name}-tasks"


async def drill_context(ctx: CallerContext) -> Context:
    """The tenant of drills, over all shards; it is created for the first drill, and must not be paused."""
    try:
        tenant = await tenants.find(ctx.store, DRILL_TENANT)
    except NotFound:
        tenant = await tenants.create(ctx, DRILL_TENANT, width=SHARDS)
    if await lifecycle.status_of(ctx, tenant) != TenantStatus.ACTIVE:
        raise Conflict(f"the tenant {DRILL_TENANT} does not fire: `horae tenant resume {DRILL_TENANT}`")
    return Context.of(ctx.store, tenant, ctx.actor)


async def audit(ctx: Context, since: datetime, until: datetime) -> tuple[int, int]:
    """Audit the fires of the drill's tenant; returns how many were expected, and the number of findings."""
    found = [one async for one in audit_fires(ctx.store.cells, AuditRange(since, until, ctx.tenant.id))]
    return sum_up(one.verdict.counts for one in found).expected, sum(len(one.verdict.findings) for one in found)


def _whole_ms(at: datetime) -> datetime:
    return at.replace(microsecond=at.microsecond // 1000 * 1000)
