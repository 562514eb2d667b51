"""Versions of a job: list them, read one, and compare two."""

from typing import Any, Final

from horae.domain.errors import NotFound
from horae.domain.jobs.diffs import FieldDifference, differences
from horae.domain.jobs.jobs import LAST_VERSION, Job
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_version, decrypt_version_or_mark
from horae.store.jobs import versions
from horae.store.jobs.versions import Version
from horae.store.tx import Tx

__all__ = ["Version", "diff", "find", "listing"]
WRITTEN: Final = {"edge_id", "since"}
"""Fields of an edge that Horae writes, and that no difference names."""


async def listing(ctx: Context, job: Job, *, before: int = LAST_VERSION, limit: int = 50) -> list[Version]:
    """Returns a job's versions, newest first. The next page is `before` the last one."""
    async with ctx.store.statement(job.shard) as tx:
        found = await versions.listing(tx, job, before, limit)
    return [await decrypt_version_or_mark(ctx, job, one) for one in found]


async def find(ctx: Context, job: Job, version: int) -> Version:
    """Returns one version of a job."""
    async with ctx.store.statement(job.shard) as tx:
        found = await _find(tx, job, version)
    return await _decrypt(ctx, job, found)


async def diff(ctx: Context, job: Job, before: int, after: int) -> list[FieldDifference]:
    """Returns the fields that differ between two versions. A field with its default value counts as absent."""
    async with ctx.store.statement(job.shard) as tx:
        old, new = await _find(tx, job, before), await _find(tx, job, after)
    old, new = await _decrypt(ctx, job, old), await _decrypt(ctx, job, new)
    return differences(_declared(old.definition), _declared(new.definition))


def _declared(definition: dict[str, Any]) -> dict[str, Any]:
    """Returns a definition with its edge as a person has said it."""
    after = definition.get("after")
    if not isinstance(after, dict):
        return definition
    return definition | {"after": {name: value for name, value in after.items() if name not in WRITTEN}}


async def _decrypt(ctx: Context, job: Job, version: Version) -> Version:
    return version._replace(definition=await decrypt_version(ctx, job, version.definition))


async def _find(tx: Tx, job: Job, version: int) -> Version:
    found = await versions.find(tx, job, version) if 0 < version <= LAST_VERSION else None
    if found is None:
        raise NotFound(f"job {job.name!r} has no version {version}")
    return found
