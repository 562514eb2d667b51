"""What a door writes and reads, for pgbench: the same rows with nothing around them."""

from pathlib import Path

from benchmarks.data import TENANT
from benchmarks.server import FOLDER

TYPE = "'00000000-0000-7000-8000-00000000000a'::uuid"
# No read before, no fence, no guard, no decision: only the rows that a task never seen before leaves.
PUT = """
with fresh as materialized (
    select (hashint8(number) & 4095)::smallint as shard_id, 'k' || number as business_key, gen_random_uuid() as id,
           jsonb_build_object('decision', 'created', 'on', now(), 'by', 'bench', 'at', now()) as note
    from generate_series(:first::bigint, :first::bigint + {most}) number),
ledger as (
    insert into task_key (shard_id, tenant_id, job_id, business_key, generation, instance_id, decisions, updated_at)
    select shard_id, '{tenant}'::uuid, {type}, business_key, 1, id, jsonb_build_array(note), now() from fresh),
born as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, state, business_key, generation, payload)
    select shard_id, id, '{tenant}'::uuid, {type}, 1, '00000000000000000000000000-t-' || business_key || '-1',
           now() + interval '1 day', now() + interval '1 day', now(), 1, 0, 13000, 'INIT', business_key, 1, '{{"n": 1}}'
    from fresh)
insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
select now(), shard_id, '{tenant}'::uuid, {type}, id, 'TASK_CREATED',
       note || jsonb_build_object('key', business_key, 'instance_id', id, 'revision', 1)
from fresh;
"""


def put(batch: int) -> Path:
    """So many new tasks in one statement."""
    text = PUT.format(tenant=TENANT, type=TYPE, most=batch - 1)
    lines = ["\\set first random(1, 9000000000000) * 1000", " ".join(text.split())]
    path = FOLDER / f"api_put_{batch}.sql"
    path.write_text("\n".join(lines) + "\n")
    return path
