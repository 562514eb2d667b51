"""Counts over all cells how many subjects of a rolling set are fresh."""

from collections.abc import Iterator
from typing import Final

from horae.domain.jobs.jobs import Job
from horae.domain.rolling.rolling import CoverageCount, count_from_rows, since_when
from horae.domain.schedules.triggers import RollingTrigger
from horae.domain.tenants.tenants import Tenant
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.rolling import subjects

AT_ONCE: Final = 64
"""Shards that one statement counts; a set of millions needs several statements."""


async def count_coverage(store: StoreProtocol, tenant: Tenant, job: Job) -> CoverageCount:
    """Counts the subjects of a job: all, the fresh ones (with a recent success), and the ones under way."""
    trigger = job.definition.trigger
    assert isinstance(trigger, RollingTrigger)
    now = store.cell(job.shard).clock.now()
    since = since_when(trigger, now)
    found = count_from_rows(now, ())
    for cell, shards in _parts(store, tenant, job):
        async with cell.statement() as tx:
            found = found.plus(await subjects.counts(tx, tenant.id, job.id, shards, since))
    return found


def _parts(store: StoreProtocol, tenant: Tenant, job: Job) -> Iterator[tuple[CellProtocol, list[int]]]:
    parts: dict[CellProtocol, list[int]] = {}
    for shard in tenant.shards(job.definition.width):
        parts.setdefault(store.cell(shard), []).append(shard)
    for cell, shards in parts.items():
        for first in range(0, len(shards), AT_ONCE):
            yield cell, shards[first : first + AT_ONCE]
