"""How a file of SQL becomes the text that PostgreSQL gets."""

import pytest

from horae.store import statements
from horae.store.statements import number_parameters, sql


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("-- :shard :name\nselect :name, :shard, :name", "select $2, $1, $2"),
        ("-- :id\n-- Zero rows: nothing.\nselect :id", "-- Zero rows: nothing.\nselect $1"),
        ("-- Zero rows: nothing.\nselect 1", "-- Zero rows: nothing.\nselect 1"),
        ("-- :now\nselect :now::text, 1::int", "select $1::text, 1::int"),
        ("-- :ids\nwhere id = any(array[:ids])", "where id = any(array[$1])"),
        ("-- :n\nselect (a)[1:n], a[:n], b[l:n]", "select (a)[1:n], a[$1], b[l:n]"),
        ("-- :a\nselect ':a', 'it''s :b', \":c\", :a", "select ':a', 'it''s :b', \":c\", $1"),
        ("-- :a\nselect :a -- not :b, and it's over\n, 2", "select $1 -- not :b, and it's over\n, 2"),
        ("-- :a\nselect d #>> '{trigger,kind}', e ->> 'x:y', :a", "select d #>> '{trigger,kind}', e ->> 'x:y', $1"),
        ("-- :id :id_of\nselect :id_of, :id", "select $2, $1"),
        ("-- :a :b\nselect :a+:b, (:a), -:b", "select $1+$2, ($1), -$2"),
    ],
)
def test_a_name_becomes_its_place_in_the_first_line(file, text):
    assert number_parameters("some/statement", file) == text


@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        ("-- :shard\nselect :shard, :name", "some/statement.sql: the first line does not list name"),
        ("select :name", "some/statement.sql: the first line does not list name"),
        ("-- :shard :name\nselect :shard", "some/statement.sql: the first line lists name, the text does not use it"),
        (
            "-- :name\nselect ':name' -- :name",
            "some/statement.sql: the first line lists name, the text does not use it",
        ),
        ("-- :name :name\nselect :name", "some/statement.sql: the first line lists a name twice"),
    ],
)
def test_a_text_that_differs_from_its_first_line_is_refused(file, complaint):
    with pytest.raises(ValueError, match=complaint):
        number_parameters("some/statement", file)


def test_a_part_is_put_in_without_its_comment_and_may_use_the_parameters(monkeypatch):
    files = {
        "some/statement": "-- :id :shard\ndelete from t where id = :id and {fence}",
        "parts/fence": "-- Open.\n:shard > 0\n",
    }
    monkeypatch.setattr(statements, "_read", files.__getitem__)
    monkeypatch.setattr(statements, "_part", statements._part.__wrapped__)
    assert sql.__wrapped__("some/statement") == "delete from t where id = $1 and $2 > 0"


def test_braces_in_literals_names_and_comments_are_no_parts(monkeypatch):
    text = "select '{}', '{fence}', \"{fence}\" -- {fence}"
    monkeypatch.setattr(statements, "_read", {"some/statement": text}.__getitem__)
    assert sql.__wrapped__("some/statement") == text


def test_the_fence_of_a_statement_asks_for_its_own_shard():
    assert "not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')" in sql(
        "identity/role_bindings/put"
    )
