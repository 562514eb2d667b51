"""Deletes the rows of a removed tenant in batches. Each function returns how many rows it deleted.

The audit log is kept for its retention time. Events and logs go with their daily partitions, signals after a day.
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
    """Some of the tenant's jobs in these shards."""
    return [row["id"] for row in await tx.rows(sql("tenants/purges/jobs"), tenant_id, shards, limit)]


async def live(tx: Tx, tenant_id: UUID, shards: Sequence[int], job_id: UUID) -> int:
    """Live instances of a job. A result that arrives later finds no row."""
    return len(await tx.rows(sql("tenants/purges/live"), BATCH, shards, job_id, tenant_id))


async def keys(tx: Tx, tenant_id: UUID, shards: Sequence[int], job_id: UUID) -> int:
    """The ledgers of a type's business keys."""
    return len(await tx.rows(sql("tenants/purges/keys"), BATCH, shards, job_id, tenant_id))


async def history(tx: Tx, tenant_id: UUID, _shards: Sequence[int], job_id: UUID) -> int:
    """The ended instances of a job, with their results."""
    return len(await tx.rows(sql("tenants/purges/history"), BATCH, job_id, tenant_id))


async def dead_letters(tx: Tx, tenant_id: UUID, _shards: Sequence[int], job_id: UUID) -> int:
    """The dead letters of a job."""
    return len(await tx.rows(sql("tenants/purges/dead_letters"), BATCH, job_id, tenant_id))


async def backfills(tx: Tx, tenant_id: UUID, _shards: Sequence[int], job_id: UUID) -> int:
    """The backfills of a job."""
    return len(await tx.rows(sql("tenants/purges/backfills"), BATCH, job_id, tenant_id))


async def graph_runs(tx: Tx, tenant_id: UUID, _shards: Sequence[int], job_id: UUID) -> int:
    """The runs of a graph, with their steps."""
    return len(await tx.rows(sql("tenants/purges/graph_runs"), BATCH, job_id, tenant_id))


async def repairs(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """The findings of the tenant's sources."""
    return len(await tx.rows(sql("tenants/purges/repairs"), BATCH, shards, tenant_id))


async def subjects(tx: Tx, tenant_id: UUID, shards: Sequence[int], job_id: UUID) -> int:
    """The subjects of a rolling job."""
    return len(await tx.rows(sql("tenants/purges/subjects"), BATCH, shards, job_id, tenant_id))


async def subject_versions(tx: Tx, tenant_id: UUID, shards: Sequence[int], job_id: UUID) -> int:
    """What messages said of the subjects of a rolling job."""
    return len(await tx.rows(sql("tenants/purges/subject_versions"), BATCH, shards, job_id, tenant_id))


async def coverages(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """The coverage counts of the tenant's rolling jobs."""
    return len(await tx.rows(sql("tenants/purges/coverages"), BATCH, shards, tenant_id))


async def sources(tx: Tx, tenant_id: UUID, job_id: UUID) -> int:
    """The source of a type, with its rounds."""
    return len(await tx.rows(sql("tenants/purges/sources"), BATCH, shard_in(job_id), job_id, tenant_id))


async def cursors(tx: Tx, tenant_id: UUID, job_id: UUID) -> int:
    """The cursor of a job."""
    return len(await tx.rows(sql("tenants/purges/cursors"), BATCH, shard_in(job_id), job_id, tenant_id))


async def versions(tx: Tx, tenant_id: UUID, job_id: UUID) -> int:
    """The versions of a job."""
    return len(await tx.rows(sql("tenants/purges/versions"), BATCH, shard_in(job_id), job_id, tenant_id))


async def job(tx: Tx, tenant_id: UUID, job_id: UUID) -> int:
    """The job itself, when no other row of it is left."""
    return len(await tx.rows(sql("tenants/purges/job"), BATCH, shard_in(job_id), job_id, tenant_id))


async def requests(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """Idempotency keys of requests."""
    return len(await tx.rows(sql("tenants/purges/requests"), BATCH, shards, tenant_id))


async def calendars(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """Calendars."""
    return len(await tx.rows(sql("tenants/purges/calendars"), BATCH, shards, tenant_id))


async def certificates(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """Certificates, with their evidence."""
    return len(await tx.rows(sql("tenants/purges/certificates"), BATCH, shards, tenant_id))


async def paced_replays(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """Paced replays of dead letters."""
    return len(await tx.rows(sql("tenants/purges/paced_replays"), BATCH, shards, tenant_id))


async def buckets(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """The buckets of the tenant's limits."""
    return len(await tx.rows(sql("tenants/purges/buckets"), BATCH, shards, tenant_id))


async def holds(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """What nodes hold of the tenant's limits."""
    return len(await tx.rows(sql("tenants/purges/holds"), BATCH, shards, tenant_id))


async def references(tx: Tx, tenant_id: UUID) -> int:
    """Copies of the tenant's types and calendars."""
    return len(await tx.rows(sql("tenants/purges/references"), tenant_id))


async def api_keys(tx: Tx, tenant_id: UUID) -> int:
    """The tenant's API keys, own rows and copies."""
    return len(await tx.rows(sql("tenants/purges/api_keys"), tenant_id))


async def secrets(tx: Tx, tenant_id: UUID) -> int:
    """The tenant's named secrets, own rows and copies."""
    return len(await tx.rows(sql("tenants/purges/secrets"), shard_in(tenant_id), tenant_id))


async def data_keys(tx: Tx, tenant_id: UUID) -> int:
    """The tenant's data keys, own rows and copies. Without them its data is unreadable, in backups too."""
    return len(await tx.rows(sql("tenants/purges/data_keys"), shard_in(tenant_id), tenant_id))


async def channels(tx: Tx, tenant_id: UUID) -> int:
    """The tenant's subscriptions, intakes, alert channels, alert rules and silences, own rows and copies."""
    return len(await tx.rows(sql("tenants/purges/channels"), shard_in(tenant_id), tenant_id))


async def widenings(tx: Tx, tenant_id: UUID) -> int:
    """The number of the tenant's widenings."""
    return len(await tx.rows(sql("tenants/purges/widenings"), tenant_id))


async def log_usage(tx: Tx, tenant_id: UUID) -> int:
    """How much the tenant has logged today."""
    return len(await tx.rows(sql("tenants/purges/log_usage"), tenant_id))


async def places(tx: Tx, tenant_id: UUID) -> int:
    """The feed positions of the tenant's subscriptions."""
    return len(await tx.rows(sql("tenants/purges/places"), tenant_id))


async def alerts(tx: Tx, tenant_id: UUID) -> int:
    """The tenant's alerts and their messages."""
    return len(await tx.rows(sql("tenants/purges/alerts"), tenant_id))


async def parked(tx: Tx, tenant_id: UUID) -> int:
    """The parked messages of the tenant's intakes."""
    return len(await tx.rows(sql("tenants/purges/parked"), tenant_id))


async def bindings(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """The role bindings of the tenant."""
    return len(await tx.rows(sql("tenants/purges/bindings"), shards, tenant_id))


async def sessions(tx: Tx, tenant_id: UUID) -> int:
    """The sessions of the tenant's users."""
    return len(await tx.rows(sql("tenants/purges/sessions"), tenant_id))


async def fire_findings(tx: Tx, tenant_id: UUID, shards: Sequence[int]) -> int:
    """What the audit of fires found of the tenant's jobs."""
    return len(await tx.rows(sql("tenants/purges/fire_findings"), BATCH, shards, tenant_id))


async def queue_workers(tx: Tx, tenant_id: UUID) -> int:
    """The workers that poll the tenant's queues."""
    return len(await tx.rows(sql("tenants/purges/queue_workers"), tenant_id))


async def worker_drains(tx: Tx, tenant_id: UUID) -> int:
    """The marks of the tenant's drained workers."""
    return len(await tx.rows(sql("tenants/purges/worker_drains"), tenant_id))
