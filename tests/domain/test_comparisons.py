"""What a difference between a source's list and our tasks means."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from horae.domain.connections.dsn import parse
from horae.domain.errors import Invalid
from horae.domain.instances.lifecycle import State
from horae.domain.sources.comparisons import (
    ComparedTask,
    KeyHistory,
    LeftReason,
    ListedTask,
    check_order,
    compare,
    judge_drifted,
    judge_missing,
    judge_orphan,
    repair_version,
)
from horae.domain.sources.sources import HttpSource, Orphans, PushSource, Spec, SqlSource
from horae.domain.tasks.tasks import AfterSuccess

NINE = datetime(2026, 11, 15, 9, tzinfo=UTC)
TEN = NINE + timedelta(hours=1)
STILL = NINE
OLD, FRESH = NINE - timedelta(minutes=5), NINE + timedelta(seconds=1)


def live(key="a", at=NINE, *, changed_at=OLD, version=None, state=State.INIT, retry_count=0):
    return ComparedTask(1, uuid4(), key, at, changed_at, version, state, retry_count)


def past(outcome, *, version=None, changed_at=OLD):
    return KeyHistory(1, outcome, version, changed_at)


def test_both_sides_are_laid_beside_each_other():
    same, moved, gone = live("a"), live("b", TEN), live("d")
    found = compare([ListedTask("a", NINE), ListedTask("b", NINE), ListedTask("c", NINE)], [same, moved, gone])
    assert found.missing == [ListedTask("c", NINE)]
    assert found.drifted == [(ListedTask("b", NINE), moved)]
    assert found.orphans == [gone]


def test_one_moment_in_two_zones_is_no_drift():
    there = NINE.astimezone(tz=None)
    assert compare([ListedTask("a", there)], [live("a")]).drifted == []


@pytest.mark.parametrize(
    ("known", "wanted", "after_success", "left"),
    [
        (None, None, "ignore", None),
        (past(State.CANCELLED), None, "ignore", None),
        (past(State.SKIPPED), None, "ignore", None),
        (past(State.CANCELLED, changed_at=FRESH), None, "ignore", LeftReason.RECENT),
        (past(State.CANCELLED, version=5, changed_at=FRESH), 6, "ignore", None),
        (past(State.CANCELLED, version=6), 5, "ignore", LeftReason.STALE),
        (past(State.CANCELLED, version=5), 5, "ignore", None),
        (past(State.SUCCESS), None, "ignore", LeftReason.SUCCEEDED),
        (past(State.SUCCESS), None, "reopen", None),
        (past(State.SUCCESS, changed_at=FRESH), None, "reopen", LeftReason.RECENT),
        (past(State.SUCCESS, version=5), 5, "reopen", LeftReason.SUCCEEDED),
        (past(State.SUCCESS, version=5, changed_at=FRESH), 6, "reopen", None),
        (past(State.DEAD), 9, "reopen", LeftReason.DEAD),
    ],
)
def test_what_is_listed_and_does_not_live_is_made_unless_its_past_speaks_against_it(known, wanted, after_success, left):
    assert judge_missing(ListedTask("a", NINE, wanted), known, AfterSuccess(after_success), STILL) is left


@pytest.mark.parametrize(
    ("ours", "changed_at", "theirs", "left"),
    [
        (None, OLD, None, None),
        (None, FRESH, None, LeftReason.RECENT),
        (5, FRESH, 6, None),
        (6, OLD, 5, LeftReason.STALE),
        (5, OLD, 5, None),
        (5, FRESH, 5, LeftReason.RECENT),
        (5, OLD, None, None),
        (None, FRESH, 5, LeftReason.RECENT),
    ],
)
def test_the_higher_version_wins_and_without_one_only_what_was_still_is_moved(ours, changed_at, theirs, left):
    found = live(version=ours, changed_at=changed_at)
    assert judge_drifted(ListedTask("a", TEN, theirs), found, STILL) is left


def test_an_orphan_is_cancelled_only_where_that_is_allowed_and_nothing_is_under_way():
    assert judge_orphan(live(), Orphans.CANCEL, STILL) is None
    assert judge_orphan(live(), Orphans.KEEP, STILL) is LeftReason.KEPT
    assert judge_orphan(live(changed_at=FRESH), Orphans.CANCEL, STILL) is LeftReason.RECENT
    for under_way in (live(state=State.RUNNING), live(state=State.FAIL, retry_count=1), live(retry_count=1)):
        assert judge_orphan(under_way, Orphans.CANCEL, STILL) is LeftReason.UNDER_WAY


def test_a_version_is_shown_only_where_it_proves_something():
    assert [repair_version(*pair) for pair in ((6, 5), (5, 5), (4, 5), (None, 5), (5, None))] == [
        6,
        None,
        None,
        None,
        5,
    ]


@pytest.mark.parametrize("keys", [["b", "a"], ["a", "a"], ["B", "a", "Z"], ["ä", "z"], [""]])
def test_a_page_out_of_order_is_refused(keys):
    with pytest.raises(Invalid, match="order of their bytes"):
        check_order(keys, "")


def test_the_order_is_that_of_bytes():
    check_order(["B", "Z", "a", "z", "é", "中", "\U0001f600"], "A")
    with pytest.raises(Invalid):
        check_order(["a"], "b")


@pytest.mark.parametrize(
    "bad",
    [
        lambda: SqlSource("shop", "table pending"),
        lambda: SqlSource("shop", "$1 $2", page=0),
        lambda: SqlSource("not a name", "$1 $2"),
        lambda: HttpSource("ftp://example.com"),
        lambda: HttpSource("https://example.com", read_timeout=31),
        lambda: Spec(PushSource(), every=1),
        lambda: Spec(PushSource(), grace=-1),
        lambda: Spec(PushSource(), most_cancelled=0),
    ],
)
def test_what_cannot_be_a_source_is_refused(bad):
    with pytest.raises(Invalid):
        bad()


def test_a_dsn_is_taken_apart_and_nothing_is_left_to_guess():
    found = parse("postgresql://re%40der:p%2Fw@db.example.com:6432/shop?sslmode=disable")
    assert found == ("db.example.com", 6432, "re@der", "p/w", "shop", False)
    assert parse("postgres://reader@db/shop") == ("db", 5432, "reader", "", "shop", True)
    assert "p/w" not in repr(found)


@pytest.mark.parametrize(
    "text",
    [
        "mysql://u@h/d",
        "postgresql:///shop",
        "postgresql://h/shop",
        "postgresql://u@h:x/d",
        "postgresql://u@h/d?sslmode=prefer",
        "postgresql://u@h/d?sslkey=/etc/passwd",
        "host=h user=u",
    ],
)
def test_a_dsn_that_leaves_something_open_is_refused_without_repeating_it(text):
    with pytest.raises(Invalid) as refused:
        parse(text)
    assert text not in str(refused.value)
