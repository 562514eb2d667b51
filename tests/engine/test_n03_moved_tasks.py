"""N3: a task that failed once and is given a new time is a first try then, and on time as any other task."""

from datetime import timedelta

import pytest

from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import ErrorCode, Retryable
from horae.domain.targets.targets import HttpTarget
from horae.service.tasks import batches, tasks
from horae.service.tasks.batches import TaskIntent
from horae.upkeep.copies import Copier
from tests.engine.running import running
from tests.steps import a_type, claim_everywhere, query, settle, until

TASKS = 40


async def move_one_by_one(ctx, at):
    for n in range(TASKS):
        await tasks.schedule(ctx, "T", str(n), at=at)


async def move_in_a_batch(ctx, at):
    await batches.schedule_many(ctx, "T", [TaskIntent(str(n), at) for n in range(TASKS)])


@pytest.mark.parametrize("move", [move_one_by_one, move_in_a_batch])
async def test_n03_failed_tasks_that_are_moved_are_first_tries_at_their_new_time(ctx, store, catcher, move):
    await a_type(ctx, "T", target=HttpTarget(catcher.url))
    await Copier(store).once()
    for n in range(TASKS):
        await tasks.schedule(ctx, "T", str(n))
    for ran in await claim_everywhere(store):
        await settle(store, ran, Retryable(ErrorCode.HTTP_5XX, "answered 503", 1800.0))
    assert {row["lane"] for row in await query(store, "select lane from instance_live")} == {Lane.RETRY}
    await move(ctx, store.cells[0].clock.now() + timedelta(seconds=2))
    assert {row["lane"] for row in await query(store, "select lane from instance_live")} == {Lane.FIRST}
    async with running(store, ttl=timedelta(seconds=8)):
        await until(lambda: len(catcher.arrivals) == TASKS)
