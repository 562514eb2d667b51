"""F7: a backfill or a set that cannot be walked keeps no other of its cell waiting."""

import asyncio

from horae.engine import backfills as walking
from horae.engine import rolling
from horae.engine.backfills import Backfiller
from horae.engine.rolling import Roller
from horae.engine.territory import Territory
from horae.service.rolling import subjects
from horae.service.schedules import backfills
from horae.upkeep.copies import Copier
from tests.engine.test_rolling import a_set
from tests.service.test_backfills import past
from tests.steps import a_job, query


def poisoned(function, key_of):
    """The first thing that comes to a function fails whenever it comes."""
    poison = []

    def call(*args):
        key = key_of(*args)
        if not poison:
            poison.append(key)
        if key == poison[0]:
            raise RuntimeError("a mistake of ours")
        return function(*args)

    return call


async def test_f7_a_backfill_that_cannot_be_walked_keeps_no_other_waiting(ctx, store, monkeypatch):
    cell = store.cells[0]
    names = [f"j{n}" for n in range(40) if store.cell(ctx.tenant.shard(f"j{n}")) is cell][:3]
    for name in names:
        _, asked = await past(ctx, store, name=name)
        await backfills.start(ctx, name, f"k-{name}", asked)
    monkeypatch.setattr(walking, "next_portion", poisoned(walking.next_portion, lambda _schedule, one, _many: one.id))
    walker = Backfiller(cell, Territory(store.shards_of(cell)), lambda _timer: None)
    for _ in range(3):
        await asyncio.gather(walker.once(), return_exceptions=True)
    found = await query(store, "select status, count(*) as many from backfill group by status")
    assert {row["status"]: row["many"] for row in found} == {"DONE": 2, "RUNNING": 1}


async def test_f7_a_set_that_cannot_be_rolled_keeps_no_other_waiting(ctx, store, monkeypatch):
    first = await a_set(ctx, store)
    second = await a_job(ctx, "PRICES", first.definition.trigger, target=first.definition.target, width=16)
    await Copier(store).once()
    for made in (first, second):
        await subjects.add(ctx, made, [f"p{n}" for n in range(5)], at_once=True)
    finish = poisoned(rolling.subjects.finish, lambda _tx, job_id, *_rest: job_id)
    monkeypatch.setattr(rolling.subjects, "finish", finish)
    for cell in store.cells:
        roller = Roller(cell, Territory(store.shards_of(cell)), lambda _timer: None)
        await asyncio.gather(roller.run_all(), return_exceptions=True)
    found = await query(store, "select distinct job_id from instance_live")
    assert len(found) == 1
