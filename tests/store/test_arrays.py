"""What is put into an array's literal comes out of it."""

from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from horae.store.arrays import documents, plain, texts
from tests.steps import query

WRITABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | WRITABLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WRITABLE, inner, max_size=3),
    max_leaves=8,
)
OFTEN = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), database=None)
NASTY = ["", "NULL", "null", '"', "\\", '\\"', "{}", "a,b", "{a,b}", " a ", "\n\t\r\x01", "'", "é世界🙂", "$1", "\\N"]


def many(strategy):
    """Values that hypothesis thinks of."""
    found = []

    @OFTEN
    @given(st.lists(strategy, max_size=5))
    def draw(values):
        found.extend(values)

    draw()
    return found


async def read(store, kind, literal):
    [row] = await query(store.cells[0], f"select $1::text::{kind}[] as found", literal)
    return row["found"]


async def test_texts_come_back_as_they_were(store):
    assert await read(store, "text", texts(NASTY)) == NASTY
    assert await read(store, "text", texts([])) == []
    assert await read(store, "text", texts([None])) == [None]
    assert await read(store, "text", texts([None, *NASTY, None])) == [None, *NASTY, None]
    drawn = many(WRITABLE)
    assert await read(store, "text", texts(drawn)) == drawn


async def test_documents_come_back_as_they_were(store):
    nasty = [*NASTY, {text: text for text in NASTY}, NASTY, 0, False, 1.5, [None], {"a": {"b": [1]}}]
    assert await read(store, "jsonb", documents([None, *nasty])) == [None, *nasty]
    drawn = many(DOCUMENTS)
    assert await read(store, "jsonb", documents(drawn)) == drawn


async def test_numbers_flags_ids_and_times_come_back_as_they_were(store, ctx):
    at = datetime(2026, 11, 15, 9, 30, 0, 123456, tzinfo=UTC)
    assert await read(store, "bigint", plain([1, None, -(2**63)])) == [1, None, -(2**63)]
    assert await read(store, "boolean", plain([True, False])) == [True, False]
    assert await read(store, "uuid", plain([ctx.tenant.id])) == [ctx.tenant.id]
    assert await read(store, "timestamptz", plain([at, at.replace(microsecond=0), at.replace(year=9999)])) == [
        at,
        at.replace(microsecond=0),
        at.replace(year=9999),
    ]
