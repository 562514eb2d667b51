"""The subjects of a rolling job: add, remove and list them, and read how well they are covered."""

from collections.abc import AsyncIterable, Iterable, Sequence
from datetime import timedelta
from typing import Final

import msgspec

from horae.domain.errors import Conflict, Invalid
from horae.domain.jobs.jobs import Job
from horae.domain.rolling.rolling import AT_ONCE, Coverage, Subject, SubjectFilter, check_subject, judge
from horae.domain.schedules.triggers import RollingTrigger
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.rolling.coverages import count_coverage
from horae.service.tenants.places import shards_of_keys
from horae.store.protocol import CellProtocol
from horae.store.rolling import coverages, subjects

LARGEST: Final = 1000
"""Subjects in one batch at most."""
ALL: Final = SubjectFilter()
"""The filter of a list that shows the whole set."""


class SubjectCount(msgspec.Struct, frozen=True):
    """How many subjects were named, and how many of them were added or removed."""

    named: int = 0
    changed: int = 0

    def plus(self, more: "SubjectCount") -> "SubjectCount":
        """Returns the sum of both."""
        return SubjectCount(self.named + more.named, self.changed + more.changed)


async def rolling_job(ctx: Context, ref: str) -> Job:
    """Returns the rolling job of a public id or a name."""
    job = await jobs.find_by_ref(ctx, ref)
    if not job.rolling:
        raise Conflict(f"job {job.name!r} has no subjects: its trigger is not rolling")
    return job


async def add(ctx: Context, job: Job, keys: Sequence[str], *, at_once: bool = False) -> SubjectCount:
    """Add keys to the set; members stay as they are. New ones run at the next tick, or `at_once`."""
    trigger = job.definition.trigger
    assert isinstance(trigger, RollingTrigger)
    added = 0
    for cell, places in (await _parts(ctx, job, keys)).items():
        async with cell.tx() as tx:
            aged_at = AT_ONCE if at_once else trigger.refreshed_before(tx.now)
            added += len(await subjects.add(tx, ctx.tenant.id, job.id, places, aged_at))
    return SubjectCount(len(keys), added)


async def remove(ctx: Context, job: Job, keys: Sequence[str]) -> SubjectCount:
    """Remove keys from the set; a refresh that is under way may finish."""
    gone = 0
    for cell, places in (await _parts(ctx, job, keys)).items():
        async with cell.tx() as tx:
            gone += len(await subjects.remove(tx, ctx.tenant.id, job.id, places))
    return SubjectCount(len(keys), gone)


async def import_keys(ctx: Context, job: Job, lines: AsyncIterable[str], *, at_once: bool = False) -> SubjectCount:
    """Add a stream of keys of any length, in batches. The same stream again changes nothing."""
    done, batch = SubjectCount(), list[str]()
    async for key in lines:
        batch.append(key)
        if len(batch) == LARGEST:
            done, batch = done.plus(await add(ctx, job, batch, at_once=at_once)), []
    return done.plus(await add(ctx, job, batch, at_once=at_once)) if batch else done


async def page(ctx: Context, job: Job, after: str, limit: int, wanted: SubjectFilter = ALL) -> list[Subject]:
    """Returns the members of all cells that the filter names, in the order of their keys."""
    found: list[Subject] = []
    prefix, status, batch_no = wanted
    ids = ctx.tenant.id, job.id
    for cell, shards in _shards(ctx, job).items():
        async with cell.statement() as tx:
            if batch_no is not None:
                found += await subjects.page_of_batch(tx, *ids, batch_no, status, after, limit, prefix)
            elif status is not None:
                found += await subjects.page_of_status(tx, *ids, shards, status, after, limit, prefix)
            else:
                found += await subjects.page(tx, *ids, shards, after, limit, prefix)
    return sorted(found, key=lambda one: one.key)[:limit]


async def coverage(ctx: Context, job: Job) -> Coverage:
    """Returns how well the set is covered: the last count if it is at most two minutes old, else a new count."""
    trigger = job.definition.trigger
    assert isinstance(trigger, RollingTrigger)
    async with ctx.store.statement(job.shard) as tx:
        kept = await coverages.find(tx, job.shard, ctx.tenant.id, job.id)
        if kept is not None and kept.at > tx.now - timedelta(minutes=2):
            return kept
    return judge(trigger, await count_coverage(ctx.store, ctx.tenant, job), None)


async def _parts(ctx: Context, job: Job, keys: Iterable[str]) -> dict[CellProtocol, list[tuple[int, str]]]:
    """Returns shard and key of each subject by cell, without duplicates, in row order."""
    shards = await shards_of_keys(ctx, job, map(_check_key, keys))
    named = sorted(shards.items(), key=lambda pair: (pair[1], pair[0]))
    if len(named) > LARGEST:
        raise Invalid(f"at most {LARGEST} subjects at once; more are imported as a stream")
    parts: dict[CellProtocol, list[tuple[int, str]]] = {}
    for key, shard in named:
        parts.setdefault(ctx.store.cell(shard), []).append((shard, key))
    return parts


def _check_key(key: str) -> str:
    check_subject(key)
    return key


def _shards(ctx: Context, job: Job) -> dict[CellProtocol, list[int]]:
    parts: dict[CellProtocol, list[int]] = {}
    for shard in ctx.tenant.shards(job.definition.width):
        parts.setdefault(ctx.store.cell(shard), []).append(shard)
    return parts
