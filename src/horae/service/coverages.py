"""Counts how many subjects of a rolling set are fresh, over all its cells."""

from collections.abc import Iterator
from typing import Final

from horae.domain.jobs import Job
from horae.domain.rolling import Counted, since_when, tallied
from horae.domain.tenants import Tenant
from horae.domain.triggers import RollingTrigger
from horae.store import subjects
from horae.store.cells import Cell, Store

AT_ONCE: Final = 64
"""Shards a statement counts: a set of millions is not counted by one."""


async def counted(store: Store, tenant: Tenant, job: Job) -> Counted:
    """All subjects of a job, those that succeeded within what counts as fresh, and those under way."""
    trigger = job.definition.trigger
    assert isinstance(trigger, RollingTrigger)
    now = store.cell(job.shard).clock.now()
    since = since_when(trigger, now)
    found = tallied(now, ())
    for cell, shards in _parts(store, tenant, job):
        async with cell.statement() as tx:
            found = found.plus(await subjects.counts(tx, tenant.id, job.id, shards, since))
    return found


def _parts(store: Store, tenant: Tenant, job: Job) -> Iterator[tuple[Cell, list[int]]]:
    parts: dict[Cell, list[int]] = {}
    for shard in tenant.shards(job.definition.width):
        parts.setdefault(store.cell(shard), []).append(shard)
    for cell, shards in parts.items():
        for first in range(0, len(shards), AT_ONCE):
            yield cell, shards[first : first + AT_ONCE]
