"""What a node with all its upkeep asks of its cells while nothing is due, counted by PostgreSQL itself."""

import asyncio

import pytest

from horae.boot.secrets import secrets_of
from horae.boot.serving import run_node
from horae.runtime.settings import Settings
from horae.store.store import Store
from tests.steps import count_statements, move_clock, query

MAX_STATEMENTS_PER_S = 2.0
SETTLE_S, WINDOW_S = 4.0, 40.0
"""In the window every duty that is asked more often than once a minute comes round."""
COUNT = """
    select query, sum(calls)::int as calls from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and query !~* 'pg_stat_statements'
    group by query
"""


async def counted(cell):
    return {row["query"]: row["calls"] for row in await query(cell, COUNT)}


@pytest.mark.long
async def test_an_idle_node_with_its_upkeep_asks_at_most_two_statements_a_second_of_each_cell(ctx, store, cells):
    """The window is real time: on a busy machine fewer rounds fit into it, never more."""
    await count_statements(store)
    await move_clock(store, minutes=5)  # what the test itself wrote is copied by then
    settings = Settings(environment="test")
    async with Store.of(cells) as own, run_node(settings, own, await secrets_of(settings, own)):
        await asyncio.sleep(SETTLE_S)
        before = [await counted(cell) for cell in store.cells]
        await asyncio.sleep(WINDOW_S)
        after = [await counted(cell) for cell in store.cells]
    for old, new in zip(before, after, strict=True):
        asked = {text[:100]: calls - old.get(text, 0) for text, calls in new.items() if calls != old.get(text, 0)}
        assert sum(asked.values()) / WINDOW_S <= MAX_STATEMENTS_PER_S, asked
        assert any("every sign" in text or "for each sign" in text for text in asked), "the pulse was read"
