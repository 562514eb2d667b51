"""Many dead letters are grouped by their causes, in two cells."""

import time
from collections import Counter

import pytest
from benchmarks.api_server import id_of_shard

from horae.service.instances import failure_causes
from horae.upkeep.copies import Copier
from horae.upkeep.dead_letter_triage import CauseSorter
from tests.steps import a_type, query

CAUSES = 40
MAX_S = 1.0
DIED = """
    insert into dead_letter (shard_id, instance_id, tenant_id, job_id, job_version, fire_time, created_at, idem_key,
                             error_code, error_msg, tag)
    select s.shard, {id}, $1::uuid, ($2::uuid[])[1 + n % 4], 1 + n % 3, $3::timestamptz,
           $3 - make_interval(secs => n % 200000), 'k' || n, 'HTTP_5XX',
           'cause ' || chr(97 + n % 40 / 4) || ': order ' || n || ' was refused by https://shop.example/' || n,
           'transient_error'
    from generate_series($5::int, $6::int - 1) n, lateral (select ($4::int[])[1 + n % 20] as shard) s"""
PORTION = 10_000


@pytest.mark.parametrize("many", [20_000, pytest.param(200_000, marks=pytest.mark.long)])
async def test_many_dead_letters_of_forty_causes_are_grouped_at_once(ctx, store, many, record_property):
    jobs = [(await a_type(ctx, f"T{n}")).id for n in range(4)]
    await Copier(store).once()
    statement = DIED.format(id=id_of_shard("s.shard"))
    for cell in store.cells:
        shards = store.shards_of(cell)[:20]
        for first in range(0, many // 2, PORTION):
            args = (ctx.tenant.id, jobs, cell.clock.now(), shards, first, first + PORTION)
            await query(cell, statement, *args)
    began = time.perf_counter()
    while await CauseSorter(store).once():
        pass
    sorted_s = time.perf_counter() - began
    await query(store, "analyze dead_letter")
    began = time.perf_counter()
    found = await failure_causes.listing(ctx)
    took_s = time.perf_counter() - began
    assert (len(found.causes), found.unsorted, found.is_complete) == (CAUSES, 0, True)
    assert Counter(one.open for one in found.causes) == {many // CAUSES: CAUSES}
    assert {one.message.partition(": ")[2] for one in found.causes} == {"order <n> was refused by <url>"}
    assert len({(one.job, one.message) for one in found.causes}) == CAUSES
    for name, value in {"dead_letters": many, "sorted_s": round(sorted_s, 1), "listed_s": round(took_s, 3)}.items():
        record_property(name, value)
    assert many < 200_000 or took_s < MAX_S
