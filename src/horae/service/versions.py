"""Versions of a job: which there were, and what differs between two of them."""

from typing import Final

from horae.domain.diffs import Difference, differences
from horae.domain.errors import NotFound
from horae.domain.jobs import Job
from horae.service.context import Context
from horae.service.sealing import shown_version, shown_version_or_not
from horae.store import versions
from horae.store.tx import Tx
from horae.store.versions import Version

__all__ = ["LAST", "Version", "diff", "find", "listing"]
LAST: Final = 2**31 - 1


async def listing(ctx: Context, job: Job, *, before: int = LAST, limit: int = 50) -> list[Version]:
    """A job's versions, newest first; the next page lies `before` this one's last."""
    async with ctx.store.statement(job.shard) as tx:
        found = await versions.listing(tx, job, before, limit)
    return [await shown_version_or_not(ctx, job, one) for one in found]


async def find(ctx: Context, job: Job, version: int) -> Version:
    """One version of a job."""
    async with ctx.store.statement(job.shard) as tx:
        found = await _find(tx, job, version)
    return await _shown(ctx, job, found)


async def diff(ctx: Context, job: Job, before: int, after: int) -> list[Difference]:
    """What differs between two versions, path by path; what stands at its default is not written down."""
    async with ctx.store.statement(job.shard) as tx:
        old, new = await _find(tx, job, before), await _find(tx, job, after)
    old, new = await _shown(ctx, job, old), await _shown(ctx, job, new)
    return differences(old.definition, new.definition)


async def _shown(ctx: Context, job: Job, version: Version) -> Version:
    return version._replace(definition=await shown_version(ctx, job, version.definition))


async def _find(tx: Tx, job: Job, version: int) -> Version:
    found = await versions.find(tx, job, version) if 0 < version <= LAST else None
    if found is None:
        raise NotFound(f"job {job.name!r} has no version {version}")
    return found
