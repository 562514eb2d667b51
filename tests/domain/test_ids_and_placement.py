from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.domain import keys
from horae.domain.errors import Invalid, NotFound
from horae.domain.ids import Prefix, compose, private, public, shard_in
from horae.domain.placement import NARROW, SHARDS, WIDTHS, home_of, part_of, runs_of, shard_of
from horae.domain.tenants import Tenant, check

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


@given(shards, st.sampled_from(sorted(WIDTHS)), st.text())
def test_a_row_lies_within_its_tenants_width(base, width, text):
    shard = shard_of(base, width, text)
    assert 0 <= shard < SHARDS
    assert (shard - base) % SHARDS < width


def test_placement_is_fixed_for_ever():
    assert [shard_of(4090, 16, f"job-{n}") for n in range(5)] == [4090, 5, 0, 2, 4093]
    assert home_of("acme") == 641


@pytest.mark.parametrize("width", [4096, 256])
def test_rows_spread_evenly(width):
    counts = [0] * width
    for n in range(width * 100):
        counts[shard_of(0, width, f"job-{n}")] += 1
    assert max(counts) < 150
    assert min(counts) > 50


def test_a_tenant_needs_a_printable_name_and_a_width_that_divides():
    for name, width in (("", 16), ("a/b", 16), ("a\n", 16), ("a", 17)):
        with pytest.raises(Invalid):
            check(name, width)


def test_a_types_own_width_overrides_the_tenants():
    tenant = Tenant(compose(7, 0, 0), "acme", 1)
    assert tenant.shard("x") == 7
    assert len({tenant.shard(str(n), 64) for n in range(2000)}) == 64


@given(uuids, st.text(min_size=1), st.text(min_size=1), times, st.integers(1, 10**6))
def test_keys_of_different_births_never_collide(job, key, other, at, generation):
    made = {
        keys.recurring(job, at),
        keys.recurring(job, at, rerun=UUID(int=1)),
        keys.task(job, key, generation),
        keys.manual(job, key),
        keys.rolling(job, other, at),
    }
    assert len(made) == 5


@given(uuids, times, times)
def test_one_key_per_job_and_fire_time_to_the_microsecond(job, one, other):
    assert (keys.recurring(job, one) == keys.recurring(job, other)) == (one == other)


def test_a_key_can_be_read_by_a_person():
    job = compose(1, 0, 0)
    assert keys.recurring(job, datetime(2026, 11, 15, tzinfo=UTC)).endswith(":1794700800")
    assert keys.task(job, "article-42", 1).endswith(":t:article-42:1")


@given(st.sets(shards, max_size=300))
def test_runs_cover_every_shard_once_and_nothing_else(held):
    wide, narrow = runs_of(held)
    covered = [shard for run in wide for shard in range(run.first, run.last + 1)] + narrow
    assert sorted(covered) == sorted(held)
    assert all(run.width >= NARROW for run in wide)


def test_all_shards_are_one_run():
    assert runs_of(range(SHARDS)) == ([(0, SHARDS - 1)], [])
    assert runs_of([7]) == ([], [7])


def test_of_shards_that_several_hold_the_parts_are_one_whole():
    everything = [frozenset(range(first, first + 1024)) for first in range(0, 4096, 1024)]
    assert [part_of(held, 4090, 4096) for held in everything] == [0.25] * 4
    assert [part_of(held, 4090, 16) for held in everything] == [10 / 16, 0, 0, 6 / 16]
    assert part_of(frozenset(), 7, 16) == 0
