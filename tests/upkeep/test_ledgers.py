"""Finished business keys of a type with a term are forgotten; all others stay, whatever their age."""

from datetime import timedelta

import pytest

from horae.domain.errors import Invalid
from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import KeyedTrigger, ManualTrigger
from horae.domain.targets.targets import QueueTarget
from horae.domain.tasks.tasks import Decision
from horae.service.tasks import tasks
from horae.upkeep import ledgers as forgetting
from horae.upkeep.copies import Copier
from horae.upkeep.ledgers import KeyForgetter
from horae.upkeep.partitions import Partitioner
from tests.steps import a_type, claim_everywhere, query, settle
from tests.steps import move_clock as move

DEAD_KEPT = timedelta(days=90)
DONE = Success()


async def move_clock(store, **by):
    """Move time, and make the days of then."""
    await move(store, **by)
    await Partitioner(store).once()


async def keys(store):
    return sorted(row["business_key"] for row in await query(store, "select business_key from task_key"))


async def forget_all(store):
    """A whole walk; returns how many rounds it took."""
    forgetter, rounds = KeyForgetter(store, DEAD_KEPT), 1
    while await forgetter.once():
        rounds += 1
    return rounds


async def run_all(store, outcome=DONE):
    while claimed := await claim_everywhere(store):
        for ran in claimed:
            await settle(store, ran, outcome)


@pytest.fixture
async def typed(ctx, store):
    await a_type(ctx, "SHORT", key_retention_days=30)
    await a_type(ctx, "ENDLESS")
    await Copier(store).once()


async def schedule(ctx, name, *wanted):
    for key in wanted:
        await tasks.schedule(ctx, name, key)


async def test_finished_keys_go_after_the_term_of_their_type(ctx, store, typed):
    await schedule(ctx, "SHORT", "old-1", "old-2")
    await schedule(ctx, "ENDLESS", "for-ever")
    await run_all(store)
    await move_clock(store, days=29)
    await schedule(ctx, "SHORT", "young")
    await run_all(store)
    await forget_all(store)
    assert await keys(store) == ["for-ever", "old-1", "old-2", "young"]
    await move_clock(store, days=2)
    await forget_all(store)
    assert await keys(store) == ["for-ever", "young"]


async def test_a_key_whose_run_has_not_ended_stays(ctx, store, typed):
    await tasks.schedule(ctx, "SHORT", "later", at=store.cells[0].clock.now() + timedelta(days=300))
    await move_clock(store, days=200)
    await forget_all(store)
    assert await keys(store) == ["later"]


async def test_a_dead_key_stays_as_long_as_its_dead_letter_may(ctx, store, typed):
    await schedule(ctx, "SHORT", "dead")
    await run_all(store, Unrecoverable(ErrorCode.HTTP_4XX, "404"))
    await move_clock(store, days=60)
    await forget_all(store)
    assert await keys(store) == ["dead"]
    await move_clock(store, days=31)
    await forget_all(store)
    assert await keys(store) == []


async def test_a_forgotten_key_is_a_new_task(ctx, store, typed):
    await schedule(ctx, "SHORT", "again")
    await run_all(store)
    before = await tasks.schedule(ctx, "SHORT", "again")
    await move_clock(store, days=31)
    await forget_all(store)
    after = await tasks.schedule(ctx, "SHORT", "again")
    assert (before.decision, after.decision) == (Decision.IGNORED, Decision.CREATED)


async def test_a_walk_goes_over_all_pages_of_all_shards(ctx, store, typed, monkeypatch):
    monkeypatch.setattr(forgetting, "PAGE", 3)
    monkeypatch.setattr(forgetting, "PAGES", 2)
    await schedule(ctx, "SHORT", *(f"k-{n}" for n in range(120)))
    await run_all(store)
    await move_clock(store, days=31)
    assert await forget_all(store) > 3
    assert await keys(store) == []


async def test_keys_of_a_shard_that_moves_stay(ctx, store, typed):
    await schedule(ctx, "SHORT", "here")
    await run_all(store)
    await move_clock(store, days=31)
    await query(store, "update shard set state = 'FROZEN', owner = null where state = 'ACTIVE'")
    await forget_all(store)
    assert await keys(store) == ["here"]


@pytest.mark.parametrize("days", [0, -1, 3651])
def test_a_term_has_bounds(days):
    with pytest.raises(Invalid):
        Definition(trigger=KeyedTrigger(), target=QueueTarget("q"), key_retention_days=days)


def test_only_a_type_of_tasks_has_a_term_for_keys():
    with pytest.raises(Invalid, match="type of tasks"):
        Definition(trigger=ManualTrigger(), target=QueueTarget("q"), key_retention_days=3)
