"""Counts of due times are neither lost nor doubled, whether or not they could be written."""

from datetime import UTC, datetime
from uuid import UUID

from horae.domain.health.service_level import LevelCount
from horae.domain.health.signals import NOBODY
from horae.domain.ids import compose
from horae.domain.instances.instances import Instance
from horae.domain.instances.lifecycle import State
from horae.store.health.level_counts import LevelCounts, LevelRow

NOW = datetime(2030, 1, 1, 12, 0, 30, tzinfo=UTC)
MINUTE = NOW.replace(second=0)


def an_instance(tenant=1, **facts):
    created = int(NOW.timestamp() * 1000)
    given = {"fire_time": NOW, "due_at": NOW} | facts
    return Instance(
        shard=0,
        id=compose(0, created, 1),
        tenant_id=UUID(int=tenant),
        job_id=UUID(int=9),
        job_version=1,
        idem_key="k",
        state=State.RUNNING,
        **given,
    )


def test_the_sum_of_all_tenants_is_nobodys_row():
    counts = LevelCounts()
    for tenant, delay_ms in ((1, 5), (1, 10_001), (2, 10_000)):
        counts.count_call(an_instance(tenant), delay_ms)
    assert set(counts.take(10)) == {
        LevelRow(MINUTE, NOBODY, 1, 2, 1),
        LevelRow(MINUTE, UUID(int=1), 1, 1, 1),
        LevelRow(MINUTE, UUID(int=2), 1, 1, 0),
    }
    assert counts.totals() == {1: LevelCount(2, 1)}
    assert counts.take(10) == []


def test_beyond_the_bound_only_the_sum_is_kept_and_late_ones_have_their_rows_first():
    counts = LevelCounts()
    for tenant in range(1, 6):
        counts.count_call(an_instance(tenant), 99_999 if tenant == 5 else 1)
    rows = counts.take(1)
    assert rows == [LevelRow(MINUTE, NOBODY, 1, 4, 1), LevelRow(MINUTE, UUID(int=5), 1, 0, 1)]


def test_what_could_not_be_written_is_written_later_and_counted_once():
    counts = LevelCounts()
    for tenant in range(1, 6):
        counts.count_call(an_instance(tenant), 1)
    counts.give_back(counts.take(2))
    assert counts.totals() == {1: LevelCount(5, 0)}
    counts.count_call(an_instance(1), 1)
    rows = {row.tenant_id: row.in_time for row in counts.take(10)}
    assert rows[NOBODY] == 6
    assert sum(many for tenant, many in rows.items() if tenant != NOBODY) == 3, (
        "of three tenants only the sum was known"
    )
    assert counts.totals() == {1: LevelCount(6, 0)}
