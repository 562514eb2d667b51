"""Calls that were made, or let start, are not lost with the statement beside them."""

from datetime import timedelta

import asyncpg

from horae.domain.schedules import Misfire, OnMisfire, Policies
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.engine import claim, completer
from horae.service.tasks import tasks
from horae.store.instances import instances
from horae.store.schedules import cursors
from horae.upkeep.copies import Copier
from tests.engine.running import ended, running
from tests.steps import a_job, a_type, query, until

CALLS = 5
DUE = "update job_cursor c set next_fire_at = $2 from job j where j.id = c.job_id and j.name like $1"


def failing(work, times, error):
    """A statement that fails so often, then goes well; tells how often it was asked."""
    asked = []

    async def fail(*args):
        asked.append(args)
        if len(asked) <= times:
            raise error
        return await work(*args)

    return fail, asked


async def test_a_result_waits_while_the_server_has_no_room_and_its_call_is_made_once(ctx, store, catcher, monkeypatch):
    end, asked = failing(instances.end, 3, asyncpg.DiskFullError("could not extend file"))
    monkeypatch.setattr(instances, "end", end)
    monkeypatch.setattr(completer, "WRITE_RETRY_PAUSE_S", 0.05)
    await a_type(ctx, "T", target=HttpTarget(catcher.url))
    await Copier(store).once()
    for n in range(CALLS):
        await tasks.schedule(ctx, "T", str(n))
    async with running(store):
        await until(lambda: ended(store, CALLS))
    assert len(asked) > 3
    assert len(catcher.arrivals) == CALLS


async def test_fires_are_sent_though_the_skips_of_their_batch_fail(ctx, store, catcher, monkeypatch):
    skip, asked = failing(cursors.skip, 1_000_000, asyncpg.DiskFullError("could not extend file"))
    monkeypatch.setattr(cursors, "skip", skip)
    now = store.cells[0].clock.now().replace(microsecond=0)
    late = now - timedelta(minutes=10)
    never = Policies(misfire=Misfire(OnMisfire.SKIP))
    for n in range(CALLS):
        target = HttpTarget(f"{catcher.url}/{n}")
        await a_job(ctx, f"late-{n}", IntervalTrigger(3600, late), target=target, policies=never)
        await a_job(ctx, f"on-time-{n}", IntervalTrigger(3600, now), target=target)
    await query(store, DUE, "on-time%", now)
    await query(store, DUE, "late%", late)
    async with running(store):
        await until(lambda: ended(store, CALLS))
    assert asked
    assert len(catcher.arrivals) == CALLS


async def test_what_was_claimed_is_sent_though_the_questions_behind_the_claim_fail(ctx, store, catcher, monkeypatch):
    removed, asked = failing(claim.jobs.removed, 2, asyncpg.DiskFullError("could not write temporary file"))
    monkeypatch.setattr(claim.jobs, "removed", removed)
    await a_type(ctx, "T", target=HttpTarget(catcher.url))
    await Copier(store).once()
    for n in range(CALLS):
        await tasks.schedule(ctx, "T", str(n))
    async with running(store):
        await until(lambda: len(catcher.arrivals) == CALLS)
        await until(lambda: ended(store, CALLS))
    assert asked
