from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.domain.errors import Invalid, NotFound
from horae.domain.ids import Prefix, compose, private, public, shard_in
from horae.domain.instances import idempotency_keys
from horae.domain.placement import (
    GROUPS,
    NARROW,
    SHARDS,
    WIDTHS,
    Layout,
    Placement,
    deal_to_cells,
    home_of,
    part_of,
    runs_of,
)
from horae.domain.tenants.tenants import Tenant, check

shards = st.integers(0, SHARDS - 1)
millis = st.integers(0, 2**48 - 1)
entropy = st.integers(0, 2**62 - 1)
uuids = st.builds(compose, shards, millis, entropy)
times = st.datetimes(timezones=st.just(UTC), min_value=datetime(1971, 1, 1), max_value=datetime(2100, 1, 1))


@given(shards, millis, entropy)
def test_an_id_is_a_version_7_uuid_that_knows_its_shard(shard, at, chance):
    id_ = compose(shard, at, chance)
    assert (id_.version, id_.variant, shard_in(id_)) == (7, "specified in RFC 4122", shard)
    assert id_.int >> 80 == at


@given(shards, shards, entropy, entropy, st.lists(millis, min_size=2, max_size=2, unique=True))
def test_ids_sort_by_birth_whatever_the_shard(a, b, x, y, at):
    early, late = sorted(at)
    assert compose(a, early, x) < compose(b, late, y)


@given(st.sampled_from(Prefix), uuids)
def test_a_public_id_leads_back_to_its_uuid(prefix, id_):
    assert private(prefix, public(prefix, id_)) == id_


@given(st.text())
def test_what_is_no_id_is_not_found_and_never_crashes(text):
    with pytest.raises(NotFound):
        private(Prefix.JOB, text)


@pytest.mark.parametrize("text", ["job_" + "z" * 26, "ins_" + "0" * 26, "job_" + "0" * 25, "job_" + "i" * 26])
def test_near_misses_are_not_found(text):
    with pytest.raises(NotFound):
        private(Prefix.JOB, text)


widths = st.sampled_from(sorted(WIDTHS))


@given(shards, widths, st.text())
def test_a_row_of_neighbours_lies_within_its_tenants_width(base, width, text):
    shard = Placement(Layout.NEIGHBOURS, width).shard(base, text)
    assert 0 <= shard < SHARDS
    assert (shard - base) % SHARDS < width


@given(shards, widths, st.text())
def test_a_row_that_is_spread_lies_a_number_of_strides_from_its_tenants_base(base, width, text):
    shard = Placement(Layout.SPREAD, width).shard(base, text)
    assert 0 <= shard < SHARDS
    assert (shard - base) % (SHARDS // width) == 0


@given(shards, widths, widths, st.sampled_from(Layout))
def test_the_shards_of_a_narrower_placement_are_among_those_of_a_wider_one(base, one, other, layout):
    narrow, wide = sorted((one, other))
    found = [Placement(layout, width).shards(base) for width in (narrow, wide)]
    assert [len(set(shards)) for shards in found] == [narrow, wide]
    assert set(found[0]) <= set(found[1])


def test_placement_is_fixed_for_ever():
    neighbours, spread = Placement(Layout.NEIGHBOURS, 16), Placement(Layout.SPREAD, 16)
    assert [neighbours.shard(4090, f"job-{n}") for n in range(5)] == [4090, 5, 0, 2, 4093]
    assert [spread.shard(4090, f"job-{n}") for n in range(5)] == [4090, 2810, 1530, 2042, 762]
    assert home_of("acme") == 641


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("width", [4096, 256])
def test_rows_spread_evenly(width, layout):
    counts = dict.fromkeys(Placement(layout, width).shards(0), 0)
    for n in range(width * 100):
        counts[Placement(layout, width).shard(0, f"job-{n}")] += 1
    assert max(counts.values()) < 150
    assert min(counts.values()) > 50


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8, 64, 100])
def test_cells_share_all_shards_as_evenly_as_whole_groups_go(cells):
    dealt = deal_to_cells(cells)
    assert sorted(shard for part in dealt for shard in part) == list(range(SHARDS))
    assert max(map(len, dealt)) - min(map(len, dealt)) <= SHARDS // GROUPS


@pytest.mark.parametrize(("width", "most"), [(1, 1), (4, 1), (16, 1), (64, 1), (256, 4)])
def test_a_small_tenant_lives_in_few_cells(width, most):
    for cells in range(1, GROUPS + 1):
        cell_of = {shard: cell for cell, part in enumerate(deal_to_cells(cells)) for shard in part}
        for base in (0, 63, 641, 4095):
            used = {cell_of[shard] for shard in Placement(Layout.SPREAD, width).shards(base)}
            assert len(used) <= most


def test_a_tenant_needs_a_printable_name_and_a_width_that_divides():
    for name, width in (("", 16), ("a/b", 16), ("a\n", 16), ("a", 17)):
        with pytest.raises(Invalid):
            check(name, width)


def test_a_types_own_width_overrides_the_tenants():
    tenant = Tenant(compose(7, 0, 0), "acme", 1)
    assert tenant.shard("x") == 7
    assert len({tenant.fixed_placement(64).shard(7, str(n)) for n in range(2000)}) == 64


@given(uuids, st.text(min_size=1), st.text(min_size=1), times, st.integers(1, 10**6))
def test_keys_of_different_births_never_collide(job, key, other, at, generation):
    made = {
        idempotency_keys.recurring_key(job, at),
        idempotency_keys.recurring_key(job, at, rerun=UUID(int=1)),
        idempotency_keys.task_key(job, key, generation),
        idempotency_keys.manual_key(job, key),
        idempotency_keys.refresh_key(job, other, at),
    }
    assert len(made) == 5


@given(uuids, times, times)
def test_one_key_per_job_and_fire_time_to_the_microsecond(job, one, other):
    assert (idempotency_keys.recurring_key(job, one) == idempotency_keys.recurring_key(job, other)) == (one == other)


def test_a_key_can_be_read_by_a_person():
    job = compose(1, 0, 0)
    assert idempotency_keys.recurring_key(job, datetime(2026, 11, 15, tzinfo=UTC)).endswith(":1794700800")
    assert idempotency_keys.task_key(job, "article-42", 1).endswith(":t:article-42:1")


@given(st.sets(shards, max_size=300))
def test_runs_cover_every_shard_once_and_nothing_else(held):
    wide, narrow = runs_of(held, range(SHARDS))
    covered = [shard for run in wide for shard in range(run.first, run.last + 1)] + narrow
    assert sorted(covered) == sorted(held)
    assert all(run.last - run.first + 1 >= NARROW for run in wide)


def test_all_shards_are_one_run():
    assert runs_of(range(SHARDS), range(SHARDS)) == ([(0, SHARDS - 1)], [])
    assert runs_of([7], range(SHARDS)) == ([], [7])


def test_a_shard_of_another_cell_breaks_no_run_and_one_of_this_cell_does():
    assert runs_of([0, 2, 4, 6, 8], range(0, SHARDS, 2)) == ([(0, 8)], [])
    assert runs_of([0, 2, 6, 8, 10, 12], range(0, SHARDS, 2)) == ([(6, 12)], [0, 2])
    assert runs_of([0, 2, 4, 6, 8], ()) == ([(0, 8)], [])


def test_a_run_of_few_shards_is_narrow_however_far_apart_they_are():
    assert runs_of([0, 64, 128], range(0, SHARDS, 64)) == ([], [0, 64, 128])


def test_of_shards_that_several_hold_the_parts_are_one_whole():
    everything = [frozenset(range(first, first + 1024)) for first in range(0, 4096, 1024)]
    neighbours, spread = Placement(Layout.NEIGHBOURS, 16), Placement(Layout.SPREAD, 16)
    assert [part_of(held, 4090, neighbours.with_width(4096)) for held in everything] == [0.25] * 4
    assert [part_of(held, 4090, neighbours) for held in everything] == [10 / 16, 0, 0, 6 / 16]
    assert [part_of(held, 4090, spread) for held in everything] == [0.25] * 4
    assert part_of(frozenset(), 7, spread) == 0
