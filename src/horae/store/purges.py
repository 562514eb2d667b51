"""What belonged to a tenant that was removed, taken away in batches; each function says how many rows went.

The audit log stays for as long as it has to, events go with their days, signals after one.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from uuid import UUID

from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx

BATCH: Final = 1000
Purge = Callable[[Tx, UUID, Sequence[int], UUID], Awaitable[int]]


async def jobs(tx: Tx, tenant_id: UUID, shards: Sequence[int], limit: int) -> list[UUID]:
    """Some of the tenant's jobs that are at home in this cell."""
    return [row["id"] for row in await tx.rows(sql("purges/jobs"), tenant_id, shards, limit)]


async def live(tx: Tx, tenant_id: UUID, shards: Sequence[int], job_id: UUID) -> int:
    """Live instances of a job; an answer that comes later finds no row."""
    return len(await tx.rows(sql("purges/live"), BATCH, shards, job_id, tenant_id))


async def keys(tx: Tx, tenant_id: UUID, shards: Sequence[int], job_id: UUID) -> int:
    """The ledgers of a type's keys."""
    return len(await tx.rows(sql("purges/keys"), BATCH, shards, job_id, tenant_id))


async def history(tx: Tx, tenant_id: UUID, _shards: Sequence[int], job_id: UUID) -> int:
    """What has ended of a job."""
    return len(await tx.rows(sql("purges/history"), BATCH, job_id, tenant_id))


async def letters(tx: Tx, tenant_id: UUID, _shards: Sequence[int], job_id: UUID) -> int:
    """Its dead letters."""
    return len(await tx.rows(sql("purges/letters"), BATCH, job_id, tenant_id))


async def backfills(tx: Tx, tenant_id: UUID, _shards: Sequence[int], job_id: UUID) -> int:
    """Its backfills."""
    return len(await tx.rows(sql("purges/backfills"), BATCH, job_id, tenant_id))


async def repairs(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """What its sources found."""
    return len(await tx.rows(sql("purges/repairs"), BATCH, shards, tenant_id))


async def subjects(tx: Tx, tenant_id: UUID, shards: Sequence[int], job_id: UUID) -> int:
    """The members of its set."""
    return len(await tx.rows(sql("purges/subjects"), BATCH, shards, job_id, tenant_id))


async def coverages(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """What was counted of its sets."""
    return len(await tx.rows(sql("purges/coverages"), BATCH, shards, tenant_id))


async def sources(tx: Tx, tenant_id: UUID, job_id: UUID) -> int:
    """Its source with its rounds."""
    return len(await tx.rows(sql("purges/sources"), BATCH, shard_in(job_id), job_id, tenant_id))


async def cursors(tx: Tx, tenant_id: UUID, job_id: UUID) -> int:
    """Its cursor."""
    return len(await tx.rows(sql("purges/cursors"), BATCH, shard_in(job_id), job_id, tenant_id))


async def versions(tx: Tx, tenant_id: UUID, job_id: UUID) -> int:
    """Its versions."""
    return len(await tx.rows(sql("purges/versions"), BATCH, shard_in(job_id), job_id, tenant_id))


async def job(tx: Tx, tenant_id: UUID, job_id: UUID) -> int:
    """The job itself, when nothing else of it is left."""
    return len(await tx.rows(sql("purges/job"), BATCH, shard_in(job_id), job_id, tenant_id))


async def requests(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """Idempotency keys of requests."""
    return len(await tx.rows(sql("purges/requests"), BATCH, shards, tenant_id))


async def calendars(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """Calendars."""
    return len(await tx.rows(sql("purges/calendars"), BATCH, shards, tenant_id))


async def buckets(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """Buckets of its limits."""
    return len(await tx.rows(sql("purges/buckets"), BATCH, shards, tenant_id))


async def holds(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """What nodes hold of its limits."""
    return len(await tx.rows(sql("purges/holds"), BATCH, shards, tenant_id))


async def references(tx: Tx, tenant_id: UUID) -> int:
    """Copies of its types and calendars."""
    return len(await tx.rows(sql("purges/references"), tenant_id))


async def api_keys(tx: Tx, tenant_id: UUID) -> int:
    """Its keys, at home and copied."""
    return len(await tx.rows(sql("purges/api_keys"), tenant_id))


async def secrets(tx: Tx, tenant_id: UUID) -> int:
    """Its named secrets, at home and copied."""
    return len(await tx.rows(sql("purges/secrets"), shard_in(tenant_id), tenant_id))


async def data_keys(tx: Tx, tenant_id: UUID) -> int:
    """Its data keys, at home and copied: what they sealed is closed for ever, in backups too."""
    return len(await tx.rows(sql("purges/data_keys"), shard_in(tenant_id), tenant_id))


async def channels(tx: Tx, tenant_id: UUID) -> int:
    """Its subscriptions and intakes, at home and copied."""
    return len(await tx.rows(sql("purges/channels"), shard_in(tenant_id), tenant_id))


async def widenings(tx: Tx, tenant_id: UUID) -> int:
    """How often it was widened."""
    return len(await tx.rows(sql("purges/widenings"), tenant_id))


async def places(tx: Tx, tenant_id: UUID) -> int:
    """How far its subscriptions were told."""
    return len(await tx.rows(sql("purges/places"), tenant_id))


async def parked(tx: Tx, tenant_id: UUID) -> int:
    """Messages that its intakes could make nothing of."""
    return len(await tx.rows(sql("purges/parked"), tenant_id))


async def bindings(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """Who had which roles."""
    return len(await tx.rows(sql("purges/bindings"), shards, tenant_id))


async def sessions(tx: Tx, tenant_id: UUID) -> int:
    """Sessions of its people."""
    return len(await tx.rows(sql("purges/sessions"), tenant_id))
