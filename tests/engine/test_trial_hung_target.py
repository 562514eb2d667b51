"""TRIAL 3.1: a target that hangs for ever made waiting instances without end, and every screen stayed green."""

from collections import Counter

import pytest

from horae.domain.targets.targets import HttpTarget
from tests.engine.running import hurry, running
from tests.steps import a_job, every, query, until

FIRES = 12
SECONDS = 60
ENDED = """
    select state, reason, error_code, error_msg from instance_history
    where fire_time < $1 and reason is distinct from 'MISFIRE'  -- of the day that was jumped over"""
LIVE = "select id, state, attempt from instance_live where fire_time < $1"


def one_name_per_cell(ctx, store):
    """A job's name for each cell: one whose shard lies there."""
    names = {store.cell(ctx.tenant.shard(f"slow-{n}")).name: f"slow-{n}" for n in range(100)}
    return [names[cell.name] for cell in store.cells]


@pytest.mark.long
async def test_fires_for_a_target_that_hangs_end_after_a_day_with_a_reason_each(ctx, store, catcher):
    catcher.answer = lambda _arrival: None
    for name in one_name_per_cell(ctx, store):
        await a_job(ctx, name, every(ctx, 1, name), target=HttpTarget(f"{catcher.url}/{name}", read_timeout=0.2))
    async with running(store) as node:
        await until(lambda: _waiting(store), SECONDS)
        then = min(cell.clock.now() for cell in store.cells)
        await hurry(store, node, days=1, minutes=1)
        await until(lambda: _none_lives_before(store, then), SECONDS)
        expired_at = len(catcher.arrivals)
        catcher.answer = lambda _arrival: 200
        await until(lambda: _someone_succeeded(store), SECONDS)
    rows = await query(store, ENDED, then)
    assert len(rows) >= 2 * FIRES
    assert {(row["state"], row["reason"] or row["error_code"]) for row in rows} <= {
        ("SKIPPED", "EXPIRED"),
        ("DEAD", "EXPIRED"),
        ("DEAD", "TIMEOUT"),
    }
    assert any("the circuit breaker of its target is open" in (row["error_msg"] or "") for row in rows)
    assert not [late for late in catcher.arrivals[expired_at:] if late.fire_time < then], "nothing that ended was sent"
    letters = await query(store, "select error_code from dead_letter where fire_time < $1", then)
    assert Counter(row["error_code"] for row in letters) == Counter(
        row["error_code"] for row in rows if row["state"] == "DEAD"
    )


async def _waiting(store):
    held = await query(store, "select count(*) as many from instance_live where state = 'INIT'")
    return all(row["many"] >= FIRES for row in held)


async def _none_lives_before(store, then):
    return not await query(store, LIVE, then)


async def _someone_succeeded(store):
    return bool(await query(store, "select from instance_history where state = 'SUCCESS'"))
