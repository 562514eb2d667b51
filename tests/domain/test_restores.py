"""Which database is the cell of today, and what a restore puts in doubt."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from horae.domain.restores.copies import newer_copies
from horae.domain.restores.doubts import DoubtKind, compare, doubted_tenants
from horae.domain.restores.generations import CellRecord, ConnectionVerdict, NodeMark, ServerFacts, is_outdated, judge
from horae.domain.restores.shards import compare_shards

RECORD = CellRecord(2, cluster_id=7, timeline=3, closed_reason=None)
SERVER = ServerFacts(cluster_id=7, timeline=3)
MARK = NodeMark(UUID(int=1), datetime(2026, 1, 1, tzinfo=UTC))
TENANT = str(UUID(int=9))


def test_a_cell_on_its_own_server_is_admitted():
    assert judge(RECORD, SERVER, None, None).verdict is ConnectionVerdict.ADMITTED
    assert judge(RECORD, SERVER, 2, MARK).verdict is ConnectionVerdict.ADMITTED


@pytest.mark.parametrize(
    ("record", "server", "known", "mark"),
    [
        (RECORD._replace(closed_reason="restored elsewhere"), SERVER, None, None),
        (RECORD, SERVER, 1, MARK),
        (RECORD, SERVER._replace(timeline=4), None, None),
        (RECORD, SERVER._replace(timeline=4, recovery_target="2026-01-01"), 2, MARK),
        (RECORD, SERVER._replace(timeline=2), 2, MARK),
        (RECORD, SERVER._replace(cluster_id=8, timeline=4), 2, MARK),
    ],
    ids=["closed", "another generation", "nobody watched", "a target", "an older timeline", "another cluster"],
)
def test_the_past_of_a_cell_is_refused(record, server, known, mark):
    found = judge(record, server, known, mark)
    assert (found.verdict, bool(found.reason)) == (ConnectionVerdict.REFUSED, True)


def test_a_process_that_watched_a_promotion_may_follow_if_its_heartbeat_is_there():
    assert judge(RECORD, SERVER._replace(timeline=4), 2, MARK).verdict is ConnectionVerdict.MUST_FOLLOW


def test_a_database_is_outdated_when_a_newer_generation_was_heard_of():
    assert is_outdated(1, 2)
    assert not is_outdated(2, 2)


def key(name, version, *, revoked=None, id_=None):
    return {
        "tenant_id": TENANT,
        "id": id_ or name,
        "name": name,
        "version": version,
        "revoked_at": revoked,
        "changed_at": "2026-01-02",
    }


def test_a_key_that_was_revoked_elsewhere_is_in_doubt_and_its_copy_is_newer():
    found = compare(DoubtKind.API_KEY, [key("a", 1)], {"cell-1": [key("a", 2, revoked="2026-01-02")]})
    assert [(one.name, "cell-1" in one.evidence) for one in found.doubts] == [("a", True)]
    assert [row["version"] for row in found.newer] == [2]


def test_a_key_that_another_cell_has_as_it_is_stays_open():
    assert compare(DoubtKind.API_KEY, [key("a", 1)], {"cell-1": [key("a", 1)]}) == ([], [])


def test_a_key_that_no_other_cell_knows_is_in_doubt():
    assert [one.name for one in compare(DoubtKind.API_KEY, [key("a", 1)], {}).doubts] == ["a"]
    assert [one.name for one in compare(DoubtKind.API_KEY, [key("a", 2)], {"cell-1": [key("a", 1)]}).doubts] == ["a"]


def test_a_key_that_is_revoked_in_the_backup_is_no_doubt_and_one_made_later_is_taken_over():
    found = compare(DoubtKind.API_KEY, [key("a", 1, revoked="2026-01-01")], {"cell-1": [key("b", 1)]})
    assert found.doubts == []
    assert [row["name"] for row in found.newer] == ["b"]


def data_key(revision, *, version=1):
    return {
        "shard_id": 1,
        "tenant_id": TENANT,
        "version": version,
        "revision": revision,
        "changed_at": f"2026-01-01T00:00:0{revision}+00:00",
    }


def channel(version, second, body="{}"):
    return {
        "shard_id": 1,
        "tenant_id": TENANT,
        "kind": "subscription",
        "name": "news",
        "version": version,
        "changed_at": f"2026-01-01T00:00:0{second}+00:00",
        "body": body,
    }


def test_of_the_copies_of_all_cells_only_the_newest_of_each_row_is_taken_over():
    copies = [data_key(2), data_key(3), data_key(1), data_key(1, version=2), data_key(1, version=2)]
    assert newer_copies("data_key", [data_key(1)], copies) == [data_key(1, version=2), data_key(3)]


def test_a_copy_of_the_same_version_as_in_the_backup_is_not_taken_over():
    assert newer_copies("data_key", [data_key(2)], [data_key(2), data_key(1)]) == []


def test_a_subscription_that_was_removed_and_made_again_is_newer_than_the_removed_one():
    removed, again = channel(5, second=2, body=None), channel(1, second=3)
    for own in ([], [removed], [channel(4, second=1)]):
        assert newer_copies("channel", own, [again, removed, channel(4, second=1)]) == [again]


def tenant(version, **body):
    return {"id": TENANT, "version": version, "changed_at": "2026-01-02", "body": body}


@pytest.mark.parametrize(
    ("copies", "in_doubt"),
    [
        ({}, True),
        ({"cell-1": [tenant(1)]}, False),
        ({"cell-1": [tenant(2)]}, False),
        ({"cell-1": [tenant(2, held={"status": "REMOVED"})]}, True),
        ({"cell-1": [tenant(2, held={"status": "PAUSED"})]}, True),
        ({"cell-1": [tenant(3, purged=True)], "cell-2": [tenant(1)]}, True),
    ],
    ids=["unknown elsewhere", "the same", "changed", "removed", "paused", "purged"],
)
def test_a_tenant_is_in_doubt_where_it_was_held_elsewhere(copies, in_doubt):
    own = [{"id": TENANT, "name": "acme", "status": "ACTIVE", "copy_version": 1}]
    assert bool(doubted_tenants(own, copies)) is in_doubt


def test_shards_that_moved_meanwhile_are_left_to_their_cell_and_those_that_came_are_lost():
    own = {1: "ACTIVE", 2: "ACTIVE", 3: "ELSEWHERE", 4: "ELSEWHERE", 5: "FROZEN"}
    others = {"cell-1": {1: "ELSEWHERE", 2: "ACTIVE", 3: "FROZEN", 4: "ELSEWHERE", 5: "ACTIVE"}}
    assert compare_shards(own, others) == ({2: "cell-1", 5: "cell-1"}, [4])


@pytest.mark.parametrize("state", ["ACTIVE", "FROZEN"])
def test_a_shard_that_is_closed_in_another_cell_by_a_move_is_left_to_that_cell(state):
    others = {"cell-1": {1: "FROZEN"}, "cell-2": {1: "ELSEWHERE"}}
    assert compare_shards({1: state}, others) == ({1: "cell-1"}, [])


def test_a_shard_that_a_move_has_opened_in_the_backup_stays_unless_a_third_cell_has_it():
    others = {"cell-1": {1: "FROZEN", 2: "FROZEN"}, "cell-2": {1: "ELSEWHERE", 2: "ACTIVE"}}
    assert compare_shards({1: "ACTIVE", 2: "ACTIVE"}, others, arrived={1, 2}) == ({2: "cell-2"}, [])


def test_a_shard_whose_move_has_opened_it_in_a_third_cell_is_left_to_the_third_cell():
    states = {"cell-1": {1: "ACTIVE"}, "cell-2": {1: "FROZEN"}}
    for others in (states, dict(reversed(states.items()))):
        assert compare_shards({1: "ACTIVE"}, others) == ({1: "cell-1"}, [])
