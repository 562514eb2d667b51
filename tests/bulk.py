"""Jobs by the thousand: creating them one by one is another test's business."""

from datetime import datetime

from horae.domain.jobs.jobs import Definition
from horae.service.context import Context
from horae.store.store import Store
from tests.steps import query

INSERT = """
    with made as (
        insert into job (shard_id, id, tenant_id, name, status, definition, created_at, changed_at)
        select ($2::int[])[1 + n * 997 % cardinality($2::int[])], gen_random_uuid(), $3, $6 || '-' || n, 'ACTIVE',
               $4, $5, $5
        from unnest($1::int[]) n
        returning *),
    versions as (
        insert into job_version (shard_id, job_id, tenant_id, name, version, definition, created_at, created_by)
        select shard_id, id, tenant_id, name, 1, definition, created_at, 'test' from made)
    insert into job_cursor (shard_id, job_id, tenant_id, version, priority, next_fire_at)
    select shard_id, id, tenant_id, 1, 1, $5 from made"""


async def bulk_jobs(
    ctx: Context, store: Store, number: int, definition: Definition, start: datetime, name: str = "bulk", first: int = 0
) -> None:
    """So many jobs over all cells whose cursors stand at `start`; their numbers begin with `first`."""
    for cell in store.cells:
        part = [n for n in range(first, first + number) if n % len(store.cells) == store.cells.index(cell)]
        await query(cell, INSERT, part, store.shards_of(cell), ctx.tenant.id, definition, start, name)
