"""The task lifecycle for pgbench: PUT one key at a time, claim and end by the hundred."""

from pathlib import Path

from benchmarks.bare.pgbench import TOKEN, as_script, plain_end, repeated
from benchmarks.data import TENANT
from benchmarks.server import FOLDER
from horae.store.statements import sql

TYPE = "'00000000-0000-7000-8000-00000000000a'::uuid"
NOTE = '\'{"decision": "created", "by": "bench"}\'::jsonb'
CLAIM_TOKEN = f"'{TOKEN}'::uuid"
FIRST = "'00000000-0000-0000-0000-000000000000'::uuid"


def put() -> Path:
    """One new key: read, decide (create), write."""
    key, place, id_ = "'k' || :number", ":shard", ":id"
    create = [place, f"'{TENANT}'::uuid", TYPE, key, "0", id_, f"'t:' || {key}", "now()", "'{\"n\": 1}'::jsonb",
              "null::bigint", "1", "1::smallint", "13000", NOTE, "now()", "null::text", "0", "null::bytea"]  # fmt: skip
    lines = [
        "\\set number random(1, 9000000000000000)",
        "\\set shard random(0, 4095)",
        "select gen_random_uuid() as id \\gset",
        as_script(sql("tasks/tasks/find"), [place, TYPE, key]) + ";",
        as_script(sql("tasks/tasks/create"), create) + ";",
    ]
    return _write("task_put", lines)


def drain(batch: int, share: int) -> Path:
    """Look for a batch in the client's run of shards, claim it and end it."""
    end = [":shards", ":ids", ":tries", *(repeated(one, ":taken::int") for one in plain_end("null")), "now()"]
    return _write("task_drain", [_look(batch, share), _claim(), as_script(sql("instances/instances/end"), end) + ";"])


def _look(batch: int, share: int) -> str:
    """The page, as arrays in the order in which rows are locked."""
    first, last = f":client_id * {share}", f":client_id * {share} + {share} - 1"
    mark = ["'{1}'", "'{0}'", "array[now() - interval '1 hour']", "'{-1}'", f"array[{FIRST}]"]
    page = as_script(sql("instances/instances/due"), [first, last, *mark, "now()", "'{}'", "null", str(batch)])
    return (
        f"with page as ({page}) select coalesce(array_agg(shard_id order by shard_id, id), '{{}}') as places,"
        " coalesce(array_agg(id order by shard_id, id), '{}') as wanted from page \\gset"
    )


def _claim() -> str:
    """Those of the page that are still waiting, as arrays."""
    held = repeated("0", "cardinality(:wanted::uuid[])")
    claim = as_script(sql("instances/instances/claim"), [":places", ":wanted", "now()", CLAIM_TOKEN, CLAIM_TOKEN, held])
    return (
        claim.replace(") update instance_live l", "), taken as (update instance_live l", 1)
        + ") select coalesce(array_agg(shard_id), '{}') as shards, coalesce(array_agg(id), '{}') as ids,"
        " coalesce(array_agg(attempt), '{}') as tries, count(*) as taken from taken \\gset"
    )


def _write(name: str, lines: list[str]) -> Path:
    path = FOLDER / f"{name}.sql"
    path.write_text("\n".join(lines) + "\n")
    return path
