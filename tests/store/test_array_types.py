"""A new connection asks nobody what an array is."""

import re
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from horae.store.cells import Cell
from horae.store.connections.array_types import ARRAYS
from tests.house.every_file import for_every

STATEMENTS = Path(__file__).parents[2] / "src/horae/store/sql"
ALIASES = {"boolean": "bool", "smallint": "int2", "int": "int4", "integer": "int4", "bigint": "int8"}
KNOWN_TO_THE_DRIVER = {"text"}
VALUES = {
    "bool": [True, None, False],
    "bytea": [b"\x00a", b""],
    "int2": [-1, 32_767],
    "int4": [-1, 2**31 - 1],
    "int8": [-1, 2**63 - 1],
    "float8": [0.5, -1.0],
    "timestamptz": [datetime(2026, 3, 1, 12, tzinfo=UTC)],
    "uuid": [UUID(int=1), None],
    "jsonb": [{"a": [1, None]}, "text", 3],
    "text": ['a"b', None, ""],
}


@pytest.fixture
def asked(monkeypatch):
    """The types that a connection has asked its server for."""
    found = []
    ask = asyncpg.Connection._introspect_types

    async def note(self, types, timeout):
        found.extend(types)
        return await ask(self, types, timeout)

    monkeypatch.setattr(asyncpg.Connection, "_introspect_types", note)
    return found


@pytest.mark.parametrize("pooled", [False, True])
async def test_every_array_goes_there_and_back_without_a_question(cells, asked, pooled):
    cell = Cell(cells[0].name, cells[0].dsn, pooled=pooled)
    await cell.open()
    async with cell.statement() as tx:
        for name, values in VALUES.items():
            assert await tx.value(f"select $1::{name}[]", values) == values
    await cell.close()
    assert asked == []


async def test_an_array_that_is_not_on_the_list_is_asked_for(store, asked):
    async with store.cells[0].statement() as tx:
        assert await tx.value("select array[date '2026-03-01']") == [datetime(2026, 3, 1).date()]
    assert asked


async def test_the_numbers_are_those_of_the_server(store):
    async with store.cells[0].statement() as tx:
        rows = await tx.rows(
            "select e.typname, a.oid, e.oid as element from pg_type a join pg_type e on e.typarray = a.oid"
        )
    there = {row["typname"]: (row["oid"], row["element"]) for row in rows}
    assert ARRAYS.items() <= there.items()


@for_every(sorted(STATEMENTS.rglob("*.sql")))
def test_every_array_of_a_statement_is_known(path):
    names = re.findall(r"\b([a-z]\w*)\[\]", path.read_text())
    assert {ALIASES.get(name, name) for name in names} <= ARRAYS.keys() | KNOWN_TO_THE_DRIVER
