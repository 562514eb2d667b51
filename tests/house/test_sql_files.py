"""What the SQL files may and may not say, and who may run them."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "horae"
SQL = SOURCE / "store" / "sql"
FILES = sorted(SQL.rglob("*.sql"))
MIGRATIONS = sorted((SOURCE / "store" / "migrations").glob("*.sql"))
HOT = {"instance_live", "instance_history", "job_cursor", "task_key", "outbox"}

WIDENING_READ = r"not exists \(select from widening w where [^()]* for key share\)"

# Written only after another statement of the same transaction passed the fence.
FOLLOWERS = {
    "audit/append",
    "backfills/birth",
    "backfills/count",
    "cursors/create",
    "cursors/remove",
    "cursors/resume",
    "idempotency/answer",
    "instances/trigger",
    "outbox/append",
    "outbox/append_many",
    "references/publish",
    "subjects/birth",
    "tenants/publish",
}
# Not the rows of a shard: the cell's own, or copies.
NOT_SHARDED = {
    "bindings/copy",
    "bindings/forget",
    "blocks/expire",
    "blocks/forget_blocks",
    "blocks/forget_entries",
    "blocks/seal",
    "channels/copy",
    "channels/forget",
    "clock/move",
    "clock/doubt",
    "clock/vouch",
    "data_keys/copy",
    "feeds/begin",
    "feeds/fail",
    "feeds/forget",
    "feeds/forget_marks",
    "feeds/mark",
    "feeds/move",
    "feeds/rewind",
    "holds/forget",
    "holds/write",
    "intakes/forget",
    "intakes/move",
    "keys/copy",
    "keys/forget",
    "leases/drain",
    "leases/forget",
    "leases/give_back",
    "leases/heartbeat",
    "leases/release",
    "leases/renew",
    "leases/take",
    "purges/api_keys",
    "purges/bindings",
    "purges/channels",
    "purges/data_keys",
    "purges/history",
    "purges/places",
    "purges/references",
    "purges/secrets",
    "purges/widenings",
    "references/copy",
    "secrets/copy",
    "secrets/forget",
    "shards/activate",
    "shards/freeze",
    "signals/forget",
    "signals/gauge",
    "signals/write",
    "widenings/write",
}


# Where the server's own wall clock is what is asked for.
WALL = {
    "clock/read",
    "health/end",
    "health/facts",
    "health/holders",
    "leases/heartbeat",
    "leases/renew",
    "migrations/prepare",
}


def name_of(path: Path) -> str:
    return str(path.relative_to(SQL).with_suffix(""))


def code_of(path: Path) -> str:
    """The statement without its comments, in one line of lower case."""
    return " ".join(re.sub(r"--[^\n]*", "", path.read_text()).lower().split())


def calls_of_sql() -> list[tuple[str, str, str]]:
    """(statement, module, function) for every `sql("…")` in the tree."""
    found = []
    for file in SOURCE.rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.AsyncFunctionDef | ast.FunctionDef):
                found += [
                    (call.args[0].value, str(file.relative_to(SOURCE / "store").with_suffix("")), function.name)
                    for call in ast.walk(function)
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "sql"
                ]
    return found


def test_each_sql_file_is_used_by_exactly_one_function_of_its_name():
    calls = calls_of_sql()
    assert sorted(statement for statement, _, _ in calls) == [name_of(path) for path in FILES]
    for statement, module, function in calls:
        folder, _, name = statement.rpartition("/")
        assert module == folder
        if module != "migrations":  # its runner walks through its statements itself
            assert function == name


def test_no_sql_stands_anywhere_else():
    keywords = re.compile(
        r"\b(select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|notify\s+\w+)\b", re.IGNORECASE | re.DOTALL
    )
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not keywords.search(node.value), f"{file.name}:{node.lineno} {node.value!r}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_in_a_data_statement_notifies_shares_or_claims_with_in(path):
    code, name = code_of(path), name_of(path)
    assert name == "wakes/notify" or not re.search(r"\b(pg_)?notify\b|\blisten\b", code)
    shared = re.sub(WIDENING_READ, "", code)  # finds a row, and locks it, only where the statement is refused
    assert not re.search(r"\bfor (no key )?(key )?share\b", shared)
    assert not re.search(r"\bin \(\s*select\b[^()]*\blimit\b", code)
    if "skip locked" in code:
        assert "as materialized" in code
    if name not in WALL:
        assert not re.search(r"\b(now|clock_timestamp|current_timestamp)\b\(?", code), "pass `now` in"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_first_write_to_a_shard_carries_the_fence(path):
    code, name = code_of(path), name_of(path)
    writes = re.search(r"\b(insert into|update|delete from)\b", code.replace("for update", ""))
    if not writes or name in FOLLOWERS or name in NOT_SHARDED or name.startswith("migrations/"):
        return
    fence = (
        r"not exists \(select from shard( s)? where (s\.)?shard_id = (\$1|\w+\.shard_id) and (s\.)?state <> 'active'\)"
    )
    assert re.search(fence, code)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_write_that_may_find_nothing_says_first_what_that_means(path):
    code = code_of(path)
    guarded = re.search(r"\bupdate \w+( \w+)? set .* where\b|\bdelete from\b|on conflict", code)
    if guarded and name_of(path) not in FOLLOWERS and not name_of(path).startswith("migrations/"):
        assert path.read_text().startswith("-- ")


def test_hot_tables_have_no_foreign_keys():
    for path in MIGRATIONS:
        assert " references " not in code_of_migration(path)


def code_of_migration(path: Path) -> str:
    return " ".join(re.sub(r"--[^\n]*", "", path.read_text()).lower().split())


def test_every_tenant_owned_table_names_its_tenant():
    own = {"cell", "clock_offset", "shard", "node", "tenant", "audit_block", "audit_checkpoint", "relay", "feed_mark"}
    for path in MIGRATIONS:
        text = path.read_text().partition("-- migrate:down")[0]
        for table, body in re.findall(r"create table (\w+) \((.*?)\n\)", text, re.DOTALL):
            assert table in own or re.search(r"\btenant_id uuid not null\b", body), table


def test_every_sharded_table_has_the_shard_in_its_keys():
    for path in MIGRATIONS:
        text = path.read_text().partition("-- migrate:down")[0]
        for table, body in re.findall(r"create table (\w+) \((.*?)\n\)", text, re.DOTALL):
            if "shard_id smallint not null" in body:
                for key in re.findall(r"(?:primary key|unique) \(([^)]*)\)", body):
                    assert "shard_id" in key, table


def test_migrations_are_numbered_from_one_without_a_gap_or_a_number_taken_twice():
    assert [int(path.name[:4]) for path in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


FIRST_CAREFUL_MIGRATION = 31
"""Those before it built indexes while the tables were small; they are applied, and a file that changed is refused."""
INDEX = re.compile(r"create (?:unique )?index (concurrently )?(?:if not exists )?(\w+) on (\w+)")


@pytest.mark.parametrize("path", MIGRATIONS, ids=lambda path: path.stem)
def test_a_migration_builds_indexes_of_tables_with_rows_concurrently(path):
    """F15: CREATE INDEX keeps all writers of its table waiting until it is built."""
    up = path.read_text().partition("-- migrate:up")[2].partition("-- migrate:down")[0]
    code = " ".join(re.sub(r"--[^\n]*", "", up).lower().split())
    new = set(re.findall(r"create table (?:if not exists )?(\w+)", code))
    alone = up.lstrip().startswith("-- without transaction")
    if int(path.name[:4]) < FIRST_CAREFUL_MIGRATION:
        return
    for concurrently, index, table in INDEX.findall(code):
        if table not in new:
            assert concurrently, f"{index}: build it concurrently"
            assert alone, f"{index}: begin the file with `-- without transaction`"
            assert f"drop index concurrently if exists {index};" in code, f"{index}: a try may have been broken off"
    assert alone or "concurrently" not in code


def test_who_makes_a_name_or_a_key_excludes_who_raises_the_number_of_widenings():
    makers = [path for path in FILES if "not exists (select from widening " in code_of(path)]
    assert len(makers) == 4
    for path in makers:
        assert re.search(WIDENING_READ, code_of(path)), name_of(path)


def test_what_runs_beside_traffic_takes_no_lock_that_others_queue_behind():
    """F15: tables are changed by migrations and by `ensure_partitions` only; each has a lock_timeout."""
    allowed = {"databases/drop", "databases/make", "migrations/prepare", "widenings/lock"}
    for path in FILES:
        code, name = code_of(path), name_of(path)
        if name not in allowed:
            assert not re.search(
                r"\b(create|alter|drop|truncate|reindex|cluster|refresh|lock) (table|index)\b", code
            ), name
        if re.match(r"vacuum\b", code):
            assert code.startswith("vacuum (skip_locked, truncate off)"), name
    assert "set local lock_timeout" in code_of(SQL / "widenings" / "careful.sql")
    assert "set local lock_timeout" in code_of(SQL / "migrations" / "careful.sql")
    made = max(path for path in MIGRATIONS if "function ensure_partitions" in path.read_text())
    up = made.read_text().partition("-- migrate:down")[0]
    assert re.search(r"function ensure_partitions.*set lock_timeout = '200ms'", up, re.DOTALL)
    assert "partition of" not in code_of_migration(made).partition("-- migrate:down")[0].partition("end $$")[0]


def test_whatever_ends_an_instance_answers_the_letter_it_was_a_replay_of():
    ending = [path for path in FILES if "delete from instance_live" in path.read_text()]
    assert len(ending) > 8
    silent = {name_of(path) for path in ending if "replay_of" not in path.read_text()}
    assert silent == {"purges/live"}
