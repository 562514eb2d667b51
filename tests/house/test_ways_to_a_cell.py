"""How the store connects, and what no statement may leave on a connection that others use after it (R-22, R-23)."""

import ast
import inspect
import re
from pathlib import Path

from horae.store.cells import OWN, POOLED, SESSION
from horae.store.connections.direct_connection import SESSION as LINE_SESSION
from horae.store.connections.primary import connect_to_primary
from tests.house.every_file import for_every
from tests.house.test_sql_files import FILES, SOURCE, code_of, name_of

ELSEWHERE = {"foreign_tables.py", "databases.py"}
"""Servers of callers, which are read only, and databases that tests and trials make."""
SESSION_ROLE = "databases/roles/become_owner"
"""Whoever migrates has a connection of its own, and closes it."""
SESSION_LOCKS = {
    "databases/archived_days/lock",
    "databases/archived_days/unlock",
    "databases/days/lock",
    "migrations/lock",
    "migrations/unlock",
}
"""They run on connections of their own, which are closed afterwards."""


def connecting_calls() -> list[tuple[Path, ast.Call]]:
    """Every call that makes a connection or a pool of them."""
    return calls_of("asyncpg.connect", "asyncpg.create_pool")


def calls_of(*functions: str) -> list[tuple[Path, ast.Call]]:
    """Every call of these functions, with its file."""
    return [
        (file, node)
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in functions
    ]


def test_whoever_connects_to_a_cell_asks_for_the_primary_and_for_read_committed():
    own = [(file, call) for file, call in connecting_calls() if file.name not in ELSEWHERE]
    assert {file.name for file, _ in own} == {"cells.py", "primary.py"}
    [pool] = [call for file, call in own if file.name == "cells.py"]
    assert any(word.arg is None and "OWN" in ast.unparse(word.value) for word in pool.keywords)
    assert OWN["connect"] is connect_to_primary
    assert '"target_session_attrs": SessionAttribute.read_write' in inspect.getsource(connect_to_primary)
    for file, call in calls_of("connect_to_primary"):
        assert "server_settings" in {word.arg for word in call.keywords}, f"{file.name}:{call.lineno}"
    for session in (SESSION, LINE_SESSION, OWN["server_settings"]):
        assert session["default_transaction_isolation"] == "read committed"


def test_a_pooled_connection_keeps_no_statement_and_sets_only_what_a_pooler_follows():
    assert POOLED["statement_cache_size"] == 0
    assert set(POOLED["server_settings"]) <= {"application_name", "timezone"}


@for_every(FILES)
def test_no_statement_leaves_anything_on_its_connection(path):
    code, name = code_of(path), name_of(path)
    assert name == SESSION_ROLE or not re.search(r"(^|; *)set (?!local\b)", code), "SET LOCAL only"
    assert not re.search(r"set_config\([^;]*?, false\)", code)
    assert not re.search(r"\b(prepare|deallocate|declare|discard) \w|\bunlisten\b|\btemp(orary)? table\b", code)
    assert name in SESSION_LOCKS or not re.search(r"\bpg_(try_)?advisory_(un)?lock\b", code)
