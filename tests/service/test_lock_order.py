"""Cursor, then job: nodes and people lock in one order, so that neither undoes what the other does."""

import asyncio

import pytest
from msgspec.structs import replace

from horae.domain.schedules import Policies
from horae.service.jobs import jobs
from horae.service.schedules import schedules
from horae.store.jobs import jobs as rows
from tests.steps import Looker, a_job, every, move_clock, query, until

WAITING = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"


async def set_labels(ctx):
    job = await jobs.find(ctx, "last")
    return await schedules.update(ctx, "last", replace(job.definition, labels={"team": "a"}))


VERBS = {
    "label": lambda ctx: schedules.label(ctx, "last", {"team": "a"}),
    "remove": lambda ctx: jobs.remove(ctx, "last"),
    "update": set_labels,
}


@pytest.mark.parametrize("verb", sorted(VERBS))
async def test_the_last_fire_of_a_job_and_a_change_of_it_wait_for_each_other_and_both_pass(
    ctx, store, monkeypatch, verb
):
    """Each has done its first write before the other does its second; neither begins again."""
    job = await a_job(ctx, "last", every(ctx, 60, "last"), policies=Policies(max_count=1))
    cell = store.cell(job.shard)
    await move_clock(store, seconds=61)
    fired, changed, writes = asyncio.Event(), asyncio.Event(), []

    async def complete(tx, *args):
        """Between the cursor and the job of a fire: until the change has the job, or waits for the cursor."""
        writes.append("complete")
        fired.set()
        await until(lambda: has_met(cell, changed), 30)
        return await real["complete"](tx, *args)

    async def write(name, *args, **facts):
        """After the job was written by a change: until the fire has the cursor."""
        writes.append(name)
        done = await real[name](*args, **facts)
        changed.set()
        await fired.wait()
        return done

    real = {name: getattr(rows, name) for name in ("complete", "revise", "set_status")}
    monkeypatch.setattr(rows, "complete", complete)
    monkeypatch.setattr(rows, "revise", lambda *args: write("revise", *args))
    monkeypatch.setattr(rows, "set_status", lambda *args, **facts: write("set_status", *args, **facts))
    looker = Looker(store, cell)
    firing = asyncio.create_task(looker.once())
    await until(fired.is_set, 30)
    await asyncio.gather(firing, VERBS[verb](ctx))
    assert len(writes) == 2, writes
    born = await query(cell, "select from instance_live where job_id = $1", job.id)
    ended = await query(cell, "select from instance_history where job_id = $1 and state = 'CANCELLED'", job.id)
    assert len(born) + len(ended) == 1


async def has_met(cell, changed):
    return changed.is_set() or bool(await query(cell, WAITING))
