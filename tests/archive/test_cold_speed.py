"""How long a person waits for the archive: 90 days, 30 M rows. `HORAE_ARCHIVE_ROWS` sets another number of rows."""

import asyncio
import os
import random
import time
from uuid import uuid4

import pytest

from horae.archive.object_store import open_target
from horae.archive.row_queries import MAX_READ_S
from horae.domain.instances.lifecycle import State
from horae.domain.instances.searches import InstanceFilter
from horae.service.instances import tiers
from horae.service.instances.searches import Bounds
from tests.archive.cold_days import reading, some_rows
from tests.archive.history import day_of
from tests.archive.made_up_days import days_before, register, write_day
from tests.steps import a_type

DAYS, HOT_DAYS = 90, 14
ROWS = int(os.environ.get("HORAE_ARCHIVE_ROWS", "30000000"))
SEARCH_S, CROSSING_S = 3.0, 1.0


@pytest.mark.long
@pytest.mark.timeout(7200)
async def test_a_search_over_ninety_days_and_a_page_over_three_tiers(ctx, store, settings, past, record_property):
    """The tenant has half of all rows, in 20 jobs; 15 other tenants have the rest. Keys recur about once a month."""
    task_type, target = await a_type(ctx), open_target(settings)
    cell = store.cells[0]
    each = ROWS // DAYS
    own = [task_type.id, *(uuid4() for _ in range(19))]
    shares = {ctx.tenant.id: (own, each // 2)}
    while len(shares) < 16:
        other = uuid4()
        if other.int % 64 not in {one.int % 64 for one in shares}:
            shares[other] = ([uuid4() for _ in range(20)], each // 30)
    began = time.monotonic()
    keys = each // 40 * 30
    days = days_before(day_of(cell, HOT_DAYS + 1).day, DAYS)
    manifests = [await asyncio.to_thread(write_day, target, day, shares, keys) for day in days]
    record_property("rows", sum(one.rows for one in manifests))
    record_property("bytes per million rows", round(sum(one.bytes for one in manifests) / ROWS * 1e6))
    record_property("seconds to write", round(time.monotonic() - began, 1))
    await register(cell, manifests)
    await _measure(ctx, task_type, target, record_property)
    await _measure_crossing(ctx, store, task_type, target, record_property)


async def _measure(ctx, task_type, target, record_property):
    searches = {
        "job and key": InstanceFilter(business_key="order-0"),
        "job and a key that never was": InstanceFilter(business_key="none"),
        "job": InstanceFilter(),
        "job and state": InstanceFilter((State.DEAD,)),
    }
    for name, sought in searches.items():
        caller = reading(ctx, target, MAX_READ_S)  # a process that has read nothing
        for state in ("first", "again"):
            began = time.monotonic()
            page = await tiers.of_job_ref(caller, task_type.name, sought, bounds=Bounds(50))
            took = time.monotonic() - began
            said = f"{took:.3f} s, {len(page.found)} rows, {page.archive}"
            record_property(f"{name}, {state}", said)
            assert took < SEARCH_S, said
            assert all(one.business_key == sought.business_key for one in page.found if sought.business_key)
    caller = reading(ctx, target)
    began = time.monotonic()
    page = await tiers.of_tenant(caller, at=tiers.COLD_START)
    record_property("tenant, first", f"{time.monotonic() - began:.3f} s, {len(page.found)} rows, {page.archive}")
    caller, last = reading(ctx, target), page.found[-1]
    began = time.monotonic()
    found, cost = await tiers.find(caller, last.id)
    record_property("one by id, first", f"{time.monotonic() - began:.3f} s, {cost}")
    assert found.id == last.id


async def _measure_crossing(ctx, store, task_type, target, record_property):
    """A page of 200: 20 live and hot instances, the rest cold."""
    for cell in store.cells:
        shard = next(one for one in range(4096) if store.cell(one) is cell)
        facts = {"keyed": True, "shard": shard, "states": ["SUCCESS"]}
        await some_rows(cell, ctx.tenant.id, task_type.id, 2, 10, random.Random(1), **facts)
    caller = reading(ctx, target, MAX_READ_S)
    for state in ("first", "again"):
        began = time.monotonic()
        page = await tiers.of_job_ref(caller, task_type.name, bounds=Bounds(200))
        took = time.monotonic() - began
        said = f"{took:.3f} s, {len(page.found)} rows, {page.archive}"
        record_property(f"crossing page, {state}", said)
        assert took < CROSSING_S, said
        assert len(page.found) == 200
