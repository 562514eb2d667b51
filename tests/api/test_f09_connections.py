"""F9: as many changes as there are connections do not stand in each other's way, whatever they lean on.

The pool is made small, so that a change that holds a connection and waits for another one waits for itself.
"""

import asyncio

import pytest

from horae.store.store import Store
from tests.keyring import sealed
from tests.store.walls import as_role

DAYS = {"first": "2026-01-01", "last": "2036-12-31", "weekdays": [1, 2, 3, 4, 5]}
POOL = 2
MANY = 2 * POOL


def job(**facts):
    return {"cron": "0 * * * *", "policies": {"calendars": [{"calendar": "days"}]}} | facts


@pytest.fixture
async def doors(cells, store):
    """The store of an API process with few connections to each cell, which are not waited for for long."""
    doors = Store.of(as_role(cells, "horae_api"))
    for cell, own in zip(doors.cells, store.cells, strict=True):
        cell.connections, cell.clock = POOL, own.clock
    async with doors:
        yield sealed(doors)


@pytest.fixture
async def names(admin, ctx, store):
    """Jobs that live in the cell of the calendar that they name."""
    assert (await admin.put("/calendars/days", json=DAYS)).is_success
    home = store.cell(ctx.tenant.shard("calendar/days"))
    near = [name for name in (f"j{n}" for n in range(200)) if store.cell(ctx.tenant.shard(name)) is home][:MANY]
    for name in near:
        made = await admin.post("/jobs", json=job(name=name, payload={"secret": name}))
        assert made.status_code == 201, made.text
    return near


async def all_at_once(calls):
    """Their answers. Whoever waits for itself is given up by the pool and answered 503."""
    answers = await asyncio.gather(*calls)
    return [(answer.status_code, answer.text) for answer in answers if not answer.is_success]


async def test_many_changes_of_jobs_with_a_calendar_at_once_all_succeed(admin, names):
    changed = job(version=1, priority="low")
    assert await all_at_once(admin.put(f"/jobs/{name}", json=changed) for name in names) == []


async def test_many_paused_jobs_with_a_calendar_are_resumed_at_once(admin, names):
    assert await all_at_once(admin.post(f"/jobs/{name}/pause") for name in names) == []
    assert await all_at_once(admin.post(f"/jobs/{name}/resume") for name in names) == []


async def test_many_backfills_of_jobs_with_a_calendar_begin_at_once(admin, names):
    span = {"since": "2026-03-02T00:00:00Z", "until": "2026-03-03T00:00:00Z"}
    calls = (
        admin.post(f"/jobs/{name}/backfill", json=span, headers={"Idempotency-Key": f"k-{name}"}) for name in names
    )
    assert await all_at_once(calls) == []


async def test_keys_that_nobody_has_read_yet_are_read_beside_no_transaction(admin, names, doors, ctx):
    """Every change answers with what is sealed, and right after a start the tenant's keys are not at hand."""
    for verb in ("pause", "resume"):
        doors.cipher.forget(ctx.tenant.id)
        assert await all_at_once(admin.post(f"/jobs/{name}/{verb}") for name in names) == []
