"""What stands behind a door, for pgbench: the same rows with nothing around them."""

from pathlib import Path

from benchmarks.bare.pgbench import TOKEN, as_script, plain_end, repeated
from benchmarks.server import FOLDER
from horae.store.statements import sql

CLAIM_TOKEN = f"'{TOKEN}'::uuid"
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


def put(tenant: object, batch: int) -> Path:
    """So many new tasks in one statement."""
    text = " ".join(PUT.format(tenant=tenant, type=TYPE, most=batch - 1).split())
    return _write(f"api_put_{batch}", "\\set first random(1, 9000000000000) * 1000", text)


def history(tenant: object, shard: int, job: str, limit: int) -> Path:
    """A page of a job's instances, as it is read."""
    page = [f"'{tenant}'::uuid", f"'{job}'::uuid", f"'{{{shard}}}'", "'9000-01-01'::timestamptz",
            "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid", "'-infinity'::timestamptz", "'infinity'::timestamptz",
            "'{}'", "null", "1000", str(limit), "false"]  # fmt: skip
    return _write("api_history", as_script(sql("instances/history/of_job"), page) + ";")


def work(tenant: object, queue: str, batch: int) -> Path:
    """Claim a batch from a queue and end it: no look before, no definitions, no proofs."""
    asked = [f"'{tenant}'::uuid", f"'{queue}'", "1", "0", "now()", str(batch), CLAIM_TOKEN, "'bench'"]
    claim = as_script(sql("workers/workers/claim"), asked).replace(
        ") update instance_live l", "), taken as (update instance_live l", 1
    )
    end = [":shards", ":ids", ":tries", *(repeated(one, ":taken::int") for one in plain_end("null")), "now()"]
    return _write(
        "api_work",
        claim + ") select coalesce(array_agg(shard_id), '{}') as shards, coalesce(array_agg(id), '{}') as ids,"
        " coalesce(array_agg(attempt), '{}') as tries, count(*) as taken from taken \\gset",
        as_script(sql("instances/instances/end"), end) + ";",
    )


def _write(name: str, *lines: str) -> Path:
    path = FOLDER / f"{name}.sql"
    path.write_text("\n".join(lines) + "\n")
    return path
