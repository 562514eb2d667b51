"""The register of tables has every table of a cell, and says what the database says."""

from pathlib import Path

import pytest
from tools.tables import moves_table, page

from horae.store.databases.table_moves import COPIED_IN_MOVE, TABLE_MOVES, MoveRule
from horae.store.databases.tables import TABLES, Place
from tests.steps import query

ROOT = Path(__file__).parents[2]
FACTS = """
    select c.relname as name, c.relrowsecurity as is_walled,
           exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') as has_tenant,
           exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'shard_id') as has_shard
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition"""
TENANTS_THEMSELVES = "tenant"


@pytest.fixture
async def found(store):
    return {row["name"]: row for row in await query(store.cells[0], FACTS)}


async def test_every_table_is_registered_once_and_in_order(found):
    assert [one.name for one in TABLES] == sorted(found)


async def test_what_belongs_to_a_shard_has_one(found):
    for one in TABLES:
        if one.place != Place.CELL:
            assert found[one.name]["has_shard"], one.name


async def test_rows_of_tenants_are_behind_row_level_security_and_only_they_go_with_a_tenant(found):
    for one in TABLES:
        if found[one.name]["has_tenant"]:
            assert found[one.name]["is_walled"], one.name
        assert (one.goes == "belong to no tenant") == (
            not found[one.name]["has_tenant"] and one.name != TENANTS_THEMSELVES
        ), one.name


def test_the_page_is_written_from_the_register():
    assert (ROOT / "docs" / "tables.md").read_text() == page(), "run `python tools/tables.py > docs/tables.md`"


def test_every_table_says_what_a_move_of_a_shard_does_with_its_rows():
    assert list(TABLE_MOVES) == [one.name for one in TABLES]
    for one in TABLES:
        rule = TABLE_MOVES[one.name].rule
        if one.place == Place.SHARD:
            assert rule in (MoveRule.MOVED, MoveRule.STAYS), one.name
        if one.place == Place.COPIES:
            assert rule == MoveRule.COPIED, one.name


def test_the_page_about_moves_has_the_rule_of_every_table():
    text = (ROOT / "docs" / "moving-shards.md").read_text()
    assert moves_table() in text, "put the output of `python tools/tables.py moves` into the page"


async def test_what_a_move_copies_has_a_primary_key_and_the_column_of_its_shard(store):
    found = await query(
        store.cells[0],
        """select c.relname as name, array_agg(a.attname::text) as columns from pg_class c
           join pg_index i on i.indrelid = c.oid and i.indisprimary
           join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
           where c.relname = any($1) group by c.relname""",
        COPIED_IN_MOVE,
    )
    assert sorted(row["name"] for row in found) == sorted(COPIED_IN_MOVE)
    for row in found:
        assert TABLE_MOVES[row["name"]].shard_column in row["columns"], row["name"]
