"""What the SQL files may and may not say, and who may run them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from horae.store.statements import sql
from tests.house.every_file import for_every

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "horae"
SQL = SOURCE / "store" / "sql"
PARTS = sorted((SQL / "parts").glob("*.sql"))
FILES = sorted(set(SQL.rglob("*.sql")) - set(PARTS))
MIGRATIONS = sorted((SOURCE / "store" / "migrations").glob("*.sql"))
HOT = {"instance_live", "instance_history", "job_cursor", "task_key", "outbox"}

WIDENING_READ = r"not exists \(select from widening w where [^()]* for key share\)"

# Written only after another statement of the same transaction passed the fence.
FOLLOWERS = {
    "audit/audit/append",
    "schedules/backfills/insert_fires",
    "schedules/backfills/count",
    "schedules/cursors/create",
    "schedules/cursors/remove",
    "schedules/cursors/resume",
    "idempotency/answer",
    "graphs/steps/cancel",
    "graphs/steps/insert",
    "instances/instances/trigger",
    "instances/results/write",
    "workers/progress/write",
    "events/outbox/append",
    "events/outbox/append_many",
    "tenants/references/publish",
    "rolling/subjects/insert_refreshes",
    "tenants/tenants/publish",
}
# Not the rows of a shard: the cell's own, or copies.
NOT_SHARDED = {
    "alerts/alerts/forget",
    "alerts/alerts/mark_messaged",
    "alerts/alerts/record",
    "alerts/alerts/resolve",
    "alerts/messages/forget_tests",
    "alerts/messages/hold_back",
    "alerts/messages/mark_failed",
    "alerts/messages/mark_sent",
    "alerts/messages/postpone",
    "alerts/messages/write",
    "audit/fire_positions/begin",
    "audit/fire_positions/move",
    "jobs/edges/move",
    "alerts/positions/forget",
    "alerts/positions/move",
    "instances/logs/add_usage",
    "tenants/purges/alerts",
    "identity/role_bindings/copy",
    "identity/role_bindings/forget",
    "audit/blocks/expire",
    "audit/blocks/forget_blocks",
    "audit/blocks/forget_entries",
    "audit/blocks/append",
    "events/channels/copy",
    "events/channels/forget",
    "databases/archived_days/begin",
    "databases/archived_days/forget",
    "databases/archived_days/mark_expiring",
    "databases/archived_days/record",
    "databases/archived_days/record_clearance",
    "databases/archived_days/record_drop",
    "databases/archived_days/reopen",
    "databases/days/record_drop",
    "health/growth/write",
    "health/service_level/forget",
    "health/service_level/write",
    "databases/clock/move",
    "databases/clock/doubt",
    "databases/clock/vouch",
    "encryption/data_keys/copy",
    "jobs/removed_types/forget_copies",
    "events/feeds/begin",
    "events/feeds/fail",
    "events/feeds/forget",
    "events/feeds/forget_marks",
    "events/feeds/mark",
    "events/feeds/move",
    "events/feeds/rewind",
    "limits/holds/forget",
    "limits/holds/write",
    "events/intakes/forget",
    "events/intakes/move",
    "identity/api_keys/copy",
    "identity/api_keys/forget",
    "nodes/leases/drain",
    "nodes/leases/forget",
    "nodes/leases/give_back",
    "nodes/leases/heartbeat",
    "nodes/leases/release",
    "nodes/leases/renew",
    "nodes/leases/take",
    "tenants/purges/api_keys",
    "tenants/purges/bindings",
    "tenants/purges/channels",
    "tenants/purges/data_keys",
    "tenants/purges/history",
    "tenants/purges/log_usage",
    "tenants/purges/places",
    "tenants/purges/references",
    "tenants/purges/secrets",
    "tenants/purges/queue_workers",
    "tenants/purges/worker_drains",
    "tenants/purges/widenings",
    "tenants/references/copy",
    "encryption/secrets/copy",
    "encryption/secrets/forget",
    "moves/moved_rows/insert",
    "moves/moved_rows/remove",
    "moves/moved_rows/remove_page",
    "moves/moves/advance",
    "moves/moves/record_progress",
    "moves/moves/record_target_epoch",
    "moves/moves/renew_lease",
    "moves/moves/request_abort",
    "moves/moves/take",
    "moves/shard_states/activate",
    "moves/shard_states/freeze",
    "moves/shard_states/leave",
    "moves/shard_states/prepare",
    "moves/shard_states/refuse_activation",
    "moves/shard_states/reopen",
    "nodes/shards/activate",
    "nodes/shards/freeze",
    "connections/admission/follow",
    "restores/contents/abort_moves",
    "restores/contents/abort_moves_into",
    "restores/contents/end_sessions",
    "restores/contents/forget_nodes",
    "restores/contents/leave_shards",
    "restores/contents/raise_epochs",
    "restores/contents/raise_references",
    "restores/contents/record_departures",
    "restores/contents/request_rounds",
    "restores/doubts/decide",
    "restores/doubts/put_back_api_key",
    "restores/doubts/put_back_role_binding",
    "restores/doubts/put_back_secret",
    "restores/doubts/record",
    "restores/doubts/shut_api_keys",
    "restores/doubts/shut_role_bindings",
    "restores/doubts/shut_secrets",
    "restores/generations/close",
    "restores/generations/confirm",
    "restores/generations/open",
    "restores/generations/witness",
    "health/signals/forget",
    "health/signals/gauge",
    "health/signals/write",
    "health/signals/write_load",
    "incidents/effects/rewind_subscriptions",
    "incidents/entries/append",
    "incidents/incidents/advance",
    "incidents/incidents/record_error",
    "incidents/incidents/request_stop",
    "incidents/incidents/start",
    "incidents/incidents/take",
    "measures/measures/forget",
    "measures/measures/override",
    "measures/measures/write",
    "tenants/widenings/write",
    "workers/drains/forget",
    "workers/queue_workers/forget",
    "workers/queue_workers/trim",
    "workers/queue_workers/write",
}


# Where the server's own wall clock is what is asked for.
WALL = {
    "databases/clock/read",
    "health/health/end",
    "health/gauges/read",
    "health/health/facts",
    "health/health/holders",
    "health/members/ask",
    "nodes/leases/heartbeat",
    "nodes/leases/renew",
    "migrations/prepare",
}


def name_of(path: Path) -> str:
    return str(path.relative_to(SQL).with_suffix(""))


def code_of(path: Path) -> str:
    """The statement as PostgreSQL gets it, without its comments, in one line of lower case."""
    return " ".join(re.sub(r"--[^\n]*", "", sql(name_of(path))).lower().split())


def parameters_of(path: Path) -> list[str]:
    """The names that the first line of a file lists."""
    first = path.read_text().partition("\n")[0]
    return re.findall(r":(\w+)", first) if re.fullmatch(r"--( :\w+)+", first) else []


def functions() -> Iterator[tuple[Path, ast.AsyncFunctionDef | ast.FunctionDef]]:
    """Every function of the tree with the file it stands in."""
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef):
                yield file, node


def asks_for_sql(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sql"


def calls_of_sql() -> list[tuple[str, str, str]]:
    """(statement, module, function) for every `sql("…")` in the tree."""
    return [
        (call.args[0].value, str(file.relative_to(SOURCE / "store").with_suffix("")), function.name)
        for file, function in functions()
        for call in ast.walk(function)
        if asks_for_sql(call)
    ]


def passed_to_statements() -> dict[str, list[int]]:
    """How many arguments each statement is run with, where the call says it: `tx.rows(sql("…"), one, *(two, three))`.

    A starred name is counted where the function assigns a tuple to it.
    """
    found: dict[str, list[int]] = {}
    for _, function in functions():
        tuples = {
            node.targets[0].id: node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and call.args and asks_for_sql(call.args[0]):
                many = counted(call.args[1:], tuples)
                if many is not None:
                    found.setdefault(call.args[0].args[0].value, []).append(many)
    return found


def counted(values: list[ast.expr], tuples: dict[str, ast.expr]) -> int | None:
    """How many values these are; None where one is starred and is no tuple of the same function."""
    many = 0
    for value in values:
        if not isinstance(value, ast.Starred):
            many += 1
            continue
        starred = tuples.get(value.value.id) if isinstance(value.value, ast.Name) else value.value
        inner = counted(starred.elts, tuples) if isinstance(starred, ast.Tuple) else None
        if inner is None:
            return None
        many += inner
    return many


def test_each_sql_file_is_used_by_exactly_one_function_of_its_name():
    calls = calls_of_sql()
    assert sorted(statement for statement, _, _ in calls) == [name_of(path) for path in FILES]
    for statement, module, function in calls:
        folder, _, name = statement.rpartition("/")
        assert module == folder
        if module != "migrations":  # its runner walks through its statements itself
            assert function == name


@for_every([*FILES, *PARTS])
def test_parameters_are_named_and_never_numbered(path):
    assert not re.search(r"\$\d", path.read_text())
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in parameters_of(path))


@for_every(FILES)
def test_a_statement_uses_each_parameter_that_its_first_line_lists_and_no_other(path):
    places = {int(place) for place in re.findall(r"\$(\d+)", sql(name_of(path)))}  # `sql` raises where they differ
    assert places == set(range(1, len(parameters_of(path)) + 1))


def test_a_function_passes_as_many_values_as_its_statement_has_parameters():
    passed = passed_to_statements()
    assert len(passed) > 250
    for path in FILES:
        for many in passed.get(name_of(path), []):
            assert many == len(parameters_of(path)), name_of(path)


@for_every(PARTS)
def test_a_part_says_what_it_is_and_serves_more_than_one_statement(path):
    assert path.read_text().startswith("-- ")
    users = [file for file in FILES if f"{{{path.stem}}}" in file.read_text()]
    assert len(users) > 1


def test_no_sql_stands_anywhere_else():
    keywords = re.compile(
        r"\b(select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|notify\s+\w+)\b", re.IGNORECASE | re.DOTALL
    )
    for file in SOURCE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text())))
        prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                assert not keywords.search(node.value), f"{file.name}:{node.lineno} {node.value!r}"


@for_every(FILES)
def test_nothing_in_a_data_statement_notifies_shares_or_claims_with_in(path):
    code, name = code_of(path), name_of(path)
    assert name == "nodes/wakes/notify" or not re.search(r"\b(pg_)?notify\b|\blisten\b", code)
    shared = re.sub(WIDENING_READ, "", code)  # finds a row, and locks it, only where the statement is refused
    assert not re.search(r"\bfor (no key )?(key )?share\b", shared)
    assert not re.search(r"\bin \(\s*select\b[^()]*\blimit\b", code)
    if "skip locked" in code:
        assert "as materialized" in code
    if name not in WALL:
        assert not re.search(r"\b(now|clock_timestamp|current_timestamp)\b\(?", code), "pass `now` in"


@for_every(FILES)
def test_every_first_write_to_a_shard_carries_the_fence(path):
    code, name = code_of(path), name_of(path)
    writes = re.search(r"\b(insert into|update|delete from)\b", code.replace("for update", ""))
    if not writes or name in FOLLOWERS or name in NOT_SHARDED or name.startswith("migrations/"):
        return
    fence = (
        r"not exists \(select from shard( s)? where (s\.)?shard_id = (\$1|\w+\.shard_id) and (s\.)?state <> 'active'\)"
    )
    assert re.search(fence, code)


@for_every(FILES)
def test_a_write_that_may_find_nothing_says_first_what_that_means(path):
    code = code_of(path)
    guarded = re.search(r"\bupdate \w+( \w+)? set .* where\b|\bdelete from\b|on conflict", code)
    if guarded and name_of(path) not in FOLLOWERS and not name_of(path).startswith("migrations/"):
        assert sql(name_of(path)).startswith("-- ")


def test_hot_tables_have_no_foreign_keys():
    for path in MIGRATIONS:
        assert " references " not in code_of_migration(path)


def code_of_migration(path: Path) -> str:
    return " ".join(re.sub(r"--[^\n]*", "", path.read_text()).lower().split())


def test_every_tenant_owned_table_names_its_tenant():
    own = {"cell", "clock_offset", "shard", "node", "tenant", "audit_block", "audit_checkpoint", "relay", "feed_mark"}
    own |= {"archived_day", "dropped_day", "growth", "alert_position", "shard_move", "cell_generation", "cell_witness"}
    own |= {"fire_audit_position", "incident", "incident_entry"}
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


@for_every(MIGRATIONS)
def test_a_migration_builds_indexes_of_tables_with_rows_concurrently(path):
    """F15: CREATE INDEX keeps all writers of its table waiting until it is built.

    `on only` builds nothing: `horae migrate` builds the parts of the days, concurrently.
    """
    up = path.read_text().partition("-- migrate:up")[2].partition("-- migrate:down")[0]
    code = " ".join(re.sub(r"--[^\n]*", "", up).lower().split())
    new = set(re.findall(r"create table (?:if not exists )?(\w+)", code))
    alone = up.lstrip().startswith("-- without transaction")
    if int(path.name[:4]) < FIRST_CAREFUL_MIGRATION:
        return
    for concurrently, index, table in INDEX.findall(code):
        if table not in new | {"only"}:
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
    """F15: tables are changed by migrations and by `ensure_partitions` only; each has a lock_timeout.

    Days are detached concurrently, which nobody waits for, and dropped when nobody can see them any more.
    """
    allowed = {"databases/databases/drop", "databases/databases/make", "migrations/prepare", "tenants/widenings/lock"}
    allowed |= {"databases/days/detach", "databases/days/finish_detach", "databases/days/drop"}
    allowed |= {"databases/day_indexes/attach"}  # under the lock_timeout of migrations
    assert code_of(SQL / "databases" / "days" / "detach.sql").endswith(" concurrently")
    for path in FILES:
        code, name = code_of(path), name_of(path)
        if name not in allowed:
            assert not re.search(
                r"\b(create|alter|drop|truncate|reindex|cluster|refresh|lock) (table|index)\b(?! concurrently)", code
            ), name
        if re.match(r"vacuum\b", code):
            assert code.startswith("vacuum (skip_locked, truncate off)"), name
    assert "set local lock_timeout" in code_of(SQL / "tenants" / "widenings" / "careful.sql")
    assert "set local lock_timeout" in code_of(SQL / "migrations" / "careful.sql")
    made = max(path for path in MIGRATIONS if "function ensure_partitions" in path.read_text())
    up = made.read_text().partition("-- migrate:down")[0]
    assert re.search(r"function ensure_partitions.*set lock_timeout = '200ms'", up, re.DOTALL)
    assert "partition of" not in code_of_migration(made).partition("-- migrate:down")[0].partition("end $$")[0]


def test_whatever_ends_an_instance_answers_the_letter_it_was_a_replay_of():
    ending = [path for path in FILES if "delete from instance_live" in code_of(path)]
    assert len(ending) > 8
    silent = {name_of(path) for path in ending if "replay_of" not in code_of(path)}
    assert silent == {"tenants/purges/live"}
