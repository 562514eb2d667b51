"""Shards move between cells while their jobs fire and their tasks are rescheduled."""

import asyncio
import random
from datetime import timedelta
from uuid import uuid4

import pytest

from horae.domain.moves.moves import MoveStep
from horae.upkeep import move_steps
from horae.upkeep.shard_mover import ShardMover
from tests.catcher import percentile
from tests.engine.fleet import another, every_fire_has_one_row, steady
from tests.engine.rescheduling import KEYS, TYPE, lost_reschedules, rescheduling
from tests.steps import a_type, query, until
from tests.upkeep.moving import KilledError, MortalCoordinator, active_cells, ask_for_move, other_than, read_move

LONG = (pytest.mark.long, pytest.mark.timeout(3600))
TTL = timedelta(seconds=1)
RESCHEDULE_PAUSE_S = 0.005


async def move_with_kills(store, shard, chance, kills):
    """Move a shard to the other cell; its coordinators are killed at random. Returns the pause in milliseconds."""
    [source] = await active_cells(store, shard)
    target = other_than(store, source)
    move = await ask_for_move(source, target, shard)
    while (move := await read_move(source, move)).step != MoveStep.DONE:
        assert len(await active_cells(store, shard)) <= 1
        if kills:
            kills -= 1
            try:
                await MortalCoordinator(source, target, uuid4(), chance.randint(1, 20)).run(move)
            except KilledError:
                await asyncio.sleep(0.01)
        else:
            await ShardMover(store, uuid4()).once()
            await asyncio.sleep(0.05)
    return move.pause_ms


@pytest.mark.parametrize(("jobs", "moved", "kills"), [(30, 4, 2), pytest.param(2000, 64, 5, marks=LONG)])
async def test_shards_that_move_under_load_lose_no_fire_and_no_reschedule(
    ctx, store, cells, catcher, monkeypatch, record_property, jobs, moved, kills
):
    monkeypatch.setattr(move_steps, "LEASE_TTL", timedelta(seconds=0.3))
    monkeypatch.setattr(move_steps, "ROWS_KEPT", timedelta(seconds=0.5))
    chance = random.Random(23)
    await steady(ctx, store, catcher, jobs)
    await a_type(ctx, TYPE)
    shards = [row["shard_id"] for row in await query(store, "select shard_id from job_cursor order by shard_id")]
    async with another(cells, ttl=TTL), another(cells, ttl=TTL), another(cells, enforced=False):
        async with rescheduling(ctx, cells, RESCHEDULE_PAUSE_S) as caller:
            await until(lambda: len(caller.acknowledged) == KEYS, 30)
            keyed = [row["shard_id"] for row in await query(store, "select distinct shard_id from task_key")]
            chosen = chance.sample(shards, moved - moved // 3) + chance.sample(keyed, moved // 3)
            pauses = [await move_with_kills(store, shard, chance, kills) for shard in dict.fromkeys(chosen)]
        now = store.clock.now()
        fired = "select distinct shard_id from instance_history where shard_id = any($1) and fire_time > $2"
        ours = [shard for shard in chosen if shard in shards]

        async def fire_again():
            return {row["shard_id"] for row in await query(store, fired, ours, now)} == set(ours)

        await until(fire_again, 60)
    assert await every_fire_has_one_row(store, jobs) > 0
    assert set(catcher.effects) == {arrival.idempotency_key for arrival in catcher.arrivals}
    assert not await lost_reschedules(store, caller)
    record_property("moves", len(pauses))
    record_property("pause_p95_ms", percentile(pauses, 0.95))
    record_property("refused", caller.refused)
