"""Each cause of late fires is named by its figures, and nothing is named without them."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from msgspec.structs import replace

from horae.domain.health.delay_causes import (
    CellReading,
    DelayCauseKind,
    NodeStrain,
    TenantDelays,
    find_delay_causes,
    newest_late_minute,
    text_of,
)
from horae.domain.health.signals import BUCKETS, Signal, bucket_of

LIMIT_MS = 2000
ACME, OTHER = UUID(int=1), UUID(int=2)


def fires(late=0, on_time=0, runs_10m=None, retries=0):
    delays = [0] * BUCKETS
    delays[bucket_of(4000)] += late
    delays[bucket_of(20)] += on_time
    return TenantDelays(delays, 10 * (late + on_time) if runs_10m is None else runs_10m, retries)


def found(**cells):
    return {cause.kind: cause for cause in find_delay_causes(cells, LIMIT_MS)}


def a_cell(*strains, tenants=None, waiting=None):
    return CellReading(tenants or {ACME: fires(50, 50), OTHER: fires(50, 50)}, strains, waiting or {})


def test_late_fires_without_anything_that_stands_out_have_no_cause():
    assert found(a=a_cell(NodeStrain(node="n")), b=a_cell()) == {}


def test_a_few_late_fires_are_not_explained():
    few = {ACME: fires(19, 0, 1)}
    assert found(a=a_cell(NodeStrain(node="n", stalled_ms=60_000), tenants=few)) == {}


@pytest.mark.parametrize(
    ("kind", "strain", "subject", "figures"),
    [
        (DelayCauseKind.CLOCK, NodeStrain(clock_offset_ms=-800), "a", {"offset_ms": 800}),
        (
            DelayCauseKind.STALLS,
            NodeStrain(node="n", stalled_ms=5000, collected_ms=4000),
            "n",
            {"stalled_ms": 5000, "collected_ms": 4000},
        ),
        (DelayCauseKind.SLOW_TARGET, NodeStrain(target="slow:443", target_share=0.7), "slow:443", {"slots_share": 0.7}),
        (
            DelayCauseKind.COLD_DEFINITIONS,
            NodeStrain(definitions_read=150),
            "a",
            {"definitions_read": 150, "fires": 200},
        ),
    ],
)
def test_what_a_node_notices_is_named(kind, strain, subject, figures):
    causes = found(a=a_cell(strain), b=a_cell())
    assert set(causes) == {kind}
    assert (causes[kind].subject, causes[kind].figures) == (subject, figures)


def test_one_slow_cell_is_named_beside_others_that_are_not():
    slow = a_cell(NodeStrain(statement_ms=300), tenants={ACME: fires(100, 10)})
    cause = found(a=slow, b=a_cell(tenants={ACME: fires(2, 200)}))[DelayCauseKind.CELL]
    assert cause.subject == "a"
    assert cause.figures["statement_ms"] == 300
    assert cause.figures["p95_ms"] > LIMIT_MS >= cause.figures["p95_of_others_ms"]


def test_a_herd_of_one_tenant_is_named_by_its_share_and_its_surge():
    herd = {ACME: fires(900, 0, 1000), OTHER: fires(20, 80)}
    causes = found(a=a_cell(tenants=herd), b=a_cell(tenants=herd))
    assert set(causes) == {DelayCauseKind.TENANT_HERD}
    cause = causes[DelayCauseKind.TENANT_HERD]
    assert cause.subject == str(ACME)
    assert cause.figures == {"late_share": pytest.approx(1800 / 1840), "fires": 1800, "times_usual": 9.0}


def test_a_tenant_is_named_where_a_cell_knows_its_name():
    causes = find_delay_causes({"a": CellReading({ACME: fires(900, 0, 1000)}, names={ACME: "acme"})}, LIMIT_MS)
    assert [text_of(one) for one in causes] == ["the tenant acme has far more fires than usual"]
    assert all("{" not in text_of(replace(causes[0], kind=kind)) for kind in DelayCauseKind)


def test_the_newest_minute_with_many_late_fires_is_the_one_to_explain():
    def minute(number, late):
        return datetime(2030, 1, 1, 0, number, tzinfo=UTC), Signal(delays=fires(late).delays)

    counted = [minute(1, 30), minute(2, 12), minute(2, 12), minute(3, 19), minute(4, 0)]
    assert newest_late_minute(counted, LIMIT_MS) == minute(2, 0)[0]
    assert newest_late_minute(counted[3:], LIMIT_MS) is None


def test_more_retries_than_fires_are_named():
    causes = found(a=a_cell(tenants={ACME: fires(50, 50, retries=500)}), b=a_cell())
    assert causes[DelayCauseKind.RETRIES].figures == {"waiting": 500, "fires": 300}


def test_hot_shards_are_named_with_their_numbers():
    waiting = {7: 500, **dict.fromkeys(range(100, 150), 2)}
    cause = found(a=a_cell(waiting=waiting), b=a_cell())[DelayCauseKind.HOT_SHARDS]
    assert (cause.subject, cause.shards, cause.figures) == ("a", (7,), {"waiting": 500, "of": 600})


def test_causes_that_explain_others_come_first():
    strains = (NodeStrain(clock_offset_ms=900), NodeStrain(target="slow", target_share=0.9))
    kinds = [cause.kind for cause in find_delay_causes({"a": a_cell(*strains), "b": a_cell()}, LIMIT_MS)]
    assert kinds == [DelayCauseKind.CLOCK, DelayCauseKind.SLOW_TARGET]
