"""The subjects of a rolling job: put in, taken out, listed, and how well they are covered."""

from collections.abc import AsyncIterable, Iterable, Sequence
from datetime import timedelta
from typing import Final

import msgspec

from horae.domain.errors import Conflict, Invalid
from horae.domain.jobs import Job
from horae.domain.rolling import AT_ONCE, Coverage, Subject, check_subject, judge
from horae.domain.triggers import RollingTrigger
from horae.service import jobs
from horae.service.context import Context
from horae.service.coverages import counted
from horae.service.places import shards_of_keys
from horae.store import coverages, subjects
from horae.store.cells import Cell

LARGEST: Final = 1000


class Changed(msgspec.Struct, frozen=True):
    """How many subjects were named, and how many of them were new, or were there."""

    named: int = 0
    changed: int = 0

    def plus(self, more: "Changed") -> "Changed":
        """Both together."""
        return Changed(self.named + more.named, self.changed + more.changed)


async def rolling(ctx: Context, ref: str) -> Job:
    """The rolling job behind an id or a name."""
    job = await jobs.named(ctx, ref)
    if not job.rolling:
        raise Conflict(f"job {job.name!r} has no subjects: its trigger is not rolling")
    return job


async def add(ctx: Context, job: Job, keys: Sequence[str], *, at_once: bool = False) -> Changed:
    """Put keys into the set; those that are in it stay as they are. New ones run at the next tick, or at once."""
    trigger = job.definition.trigger
    assert isinstance(trigger, RollingTrigger)
    added = 0
    for cell, places in (await _parts(ctx, job, keys)).items():
        async with cell.tx() as tx:
            aged_at = AT_ONCE if at_once else trigger.aged(tx.now)
            added += len(await subjects.add(tx, ctx.tenant.id, job.id, places, aged_at))
    return Changed(len(keys), added)


async def remove(ctx: Context, job: Job, keys: Sequence[str]) -> Changed:
    """Take keys out of the set; a refresh that is under way may end."""
    gone = 0
    for cell, places in (await _parts(ctx, job, keys)).items():
        async with cell.tx() as tx:
            gone += len(await subjects.remove(tx, ctx.tenant.id, job.id, places))
    return Changed(len(keys), gone)


async def take_in(ctx: Context, job: Job, lines: AsyncIterable[str], *, at_once: bool = False) -> Changed:
    """Put in a stream of keys of any length, in batches; asked again it changes nothing more."""
    done, batch = Changed(), list[str]()
    async for key in lines:
        batch.append(key)
        if len(batch) == LARGEST:
            done, batch = done.plus(await add(ctx, job, batch, at_once=at_once)), []
    return done.plus(await add(ctx, job, batch, at_once=at_once)) if batch else done


async def page(ctx: Context, job: Job, after: str, limit: int, prefix: str = "") -> list[Subject]:
    """The set in the order of its keys, from all cells; only of keys that begin so."""
    found: list[Subject] = []
    for cell, shards in _shards(ctx, job).items():
        async with cell.statement() as tx:
            found += await subjects.page(tx, ctx.tenant.id, job.id, shards, after, limit, prefix)
    return sorted(found, key=lambda one: one.key)[:limit]


async def coverage(ctx: Context, job: Job) -> Coverage:
    """How well the set is covered: as counted last, within the last minute; else now."""
    trigger = job.definition.trigger
    assert isinstance(trigger, RollingTrigger)
    async with ctx.store.statement(job.shard) as tx:
        kept = await coverages.find(tx, job.shard, ctx.tenant.id, job.id)
        if kept is not None and kept.at > tx.now - timedelta(minutes=2):
            return kept
    return judge(trigger, await counted(ctx.store, ctx.tenant, job), None)


async def _parts(ctx: Context, job: Job, keys: Iterable[str]) -> dict[Cell, list[tuple[int, str]]]:
    """Shards and keys, each once, in the order of the rows."""
    shards = await shards_of_keys(ctx, job, map(_checked, keys))
    named = sorted(shards.items(), key=lambda pair: (pair[1], pair[0]))
    if len(named) > LARGEST:
        raise Invalid(f"at most {LARGEST} subjects at once; more are imported as a stream")
    parts: dict[Cell, list[tuple[int, str]]] = {}
    for key, shard in named:
        parts.setdefault(ctx.store.cell(shard), []).append((shard, key))
    return parts


def _checked(key: str) -> str:
    check_subject(key)
    return key


def _shards(ctx: Context, job: Job) -> dict[Cell, list[int]]:
    parts: dict[Cell, list[int]] = {}
    for shard in ctx.tenant.shards(job.definition.width):
        parts.setdefault(ctx.store.cell(shard), []).append(shard)
    return parts
