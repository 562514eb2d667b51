from datetime import timedelta
from uuid import UUID

from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import ErrorCode, LostAttempt, Retryable, Success
from horae.domain.placement import SHARDS, Run
from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.randomness import new_token
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.store.instances import instances
from horae.store.instances.instances import Claim
from horae.store.nodes import shards
from horae.store.nodes.scans import BEGINNING, ScanMark, ScanRange
from horae.upkeep.copies import Copier
from tests.steps import a_job, a_type, claim_everywhere, every, move_clock, query, settle

FAILED = Retryable(ErrorCode.HTTP_5XX, "answered 503")


async def test_a_claim_of_n_never_takes_more_than_n_whatever_the_plan(ctx, store):
    """PostgreSQL 15 updated 20 rows for LIMIT 1 with the IN form and a nested loop."""
    await a_type(ctx)
    for n in range(40):
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", str(n))
    cell = store.cells[0]
    total = (await query(cell, "select count(*) from instance_live"))[0][0]
    taken, run = 0, Run(0, SHARDS - 1)
    marks = [ScanMark(Priority.NORMAL, Lane.FIRST)]
    async with cell.tx() as tx:
        for setting in ("enable_hashjoin", "enable_mergejoin", "enable_material", "enable_memoize"):
            await tx.run(f"set local {setting} = off")
        for limit in (1, 2, 3):
            for page in (
                await instances.due(tx, run, ScanRange(tx.now, limit=limit), marks),
                await instances.due_narrow(tx, store.shards_of(cell), ScanRange(tx.now, limit=limit), marks),
            ):
                assert len(page) == limit
            assert len(await instances.claim(tx, page, Claim(new_token(), new_token()))) == limit
            taken += limit
    rows = await query(cell, "select count(*) from instance_live where state = 'RUNNING'")
    assert rows[0][0] == taken
    assert total > taken


async def test_a_claim_takes_the_oldest_first_and_marks_each_with_its_token(ctx, store):
    await a_type(ctx)
    for n in range(10):
        at = store.cells[0].clock.now() - timedelta(minutes=n)
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", str(n), at=at)
    claimed = await claim_everywhere(store)
    assert {ran.state for ran in claimed} == {State.RUNNING}
    assert all(ran.attempt == 1 and ran.token and ran.deadline for ran in claimed)
    assert await claim_everywhere(store) == []


async def test_what_is_due_later_is_not_claimed(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "1", at=store.cells[0].clock.now() + timedelta(hours=1))
    assert await claim_everywhere(store) == []
    await move_clock(store, hours=1, seconds=1)
    assert len(await claim_everywhere(store)) == 1


async def test_a_settled_attempt_cannot_be_settled_again(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "1")
    [ran] = await claim_everywhere(store)
    assert (await settle(store, ran, Success())).written == 1
    for outcome in (Success(), FAILED, LostAttempt()):
        assert await settle(store, ran, outcome) == (0, 1)
    assert len(await query(store, "select * from instance_history")) == 1


async def test_an_attempt_that_was_claimed_anew_refuses_the_old_token(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "1")
    [first] = await claim_everywhere(store)
    await settle(store, first, LostAttempt())
    [second] = await claim_everywhere(store)
    assert (second.attempt, second.token != first.token) == (first.attempt, True)
    assert await settle(store, first, Success()) == (0, 1)
    assert await settle(store, second, Success()) == (1, 0)


async def test_a_failed_attempt_waits_in_the_retry_lane_with_its_reason(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "1")
    [ran] = await claim_everywhere(store)
    await settle(store, ran, FAILED)
    [row] = await query(store, "select * from instance_live")
    assert (row["state"], row["lane"], row["retry_count"], row["error_msg"]) == ("FAIL", Lane.RETRY, 1, "answered 503")
    await move_clock(store, seconds=3)
    assert await claim_everywhere(store) == []
    [again] = await claim_everywhere(store, lane=Lane.RETRY)
    assert (again.id, again.attempt) == (ran.id, 2)
    await settle(store, again, Success())
    [past] = await query(store, "select * from instance_history")
    assert (past["state"], past["retry_count"], past["error_msg"]) == ("SUCCESS", 1, None)
    events = await query(store, "select event from outbox where event = 'INSTANCE_FAILED'")
    assert len(events) == 1


async def test_the_sixth_failure_is_a_dead_letter_with_its_code_and_tag(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "1", payload={"a": 1})
    lane = Lane.FIRST
    for _ in range(6):
        [ran] = await claim_everywhere(store, lane=lane)
        await settle(store, ran, FAILED)
        await move_clock(store, minutes=10)
        lane = Lane.RETRY
    assert await query(store, "select * from instance_live") == []
    [letter] = await query(store, "select * from dead_letter")
    assert (letter["error_code"], letter["tag"], letter["replay_status"]) == ("HTTP_5XX", "transient_error", "NEW")
    [past] = await query(store, "select * from instance_history")
    assert (past["state"], past["retry_count"], past["attempt"]) == ("DEAD", 6, 6)
    [entry] = await query(store, "select * from dlq_entry")
    assert entry["instance_id"] == ran.id


async def test_a_paused_jobs_instances_are_not_claimed(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "1")
    await jobs.pause(ctx, "ARTICLE_PUBLISH")
    await Copier(store).once()
    assert await claim_everywhere(store) == []
    await jobs.resume(ctx, "ARTICLE_PUBLISH")
    await Copier(store).once()
    assert len(await claim_everywhere(store)) == 1


async def test_a_closed_shard_lets_nothing_be_claimed_settled_moved_or_fired(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "1")
    [ran] = await claim_everywhere(store)
    cell = store.cell(ran.shard)
    async with cell.tx() as tx:
        await shards.freeze(tx, [ran.shard])
    assert await settle(store, ran, Success()) == (0, 1)
    assert len(await query(cell, "select * from instance_live where state = 'RUNNING'")) == 1


async def test_abandoned_pages_go_on_behind_rows_that_cannot_be_rescued(ctx, store):
    await a_type(ctx)
    for n in range(12):
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", str(n))
    claimed = await claim_everywhere(store)
    assert len(claimed) == 12
    await move_clock(store, minutes=1)
    seen = []
    for cell in store.cells:
        after = (BEGINNING, UUID(int=0))
        while True:
            async with cell.statement() as tx:
                page = await instances.abandoned(tx, Run(0, SHARDS - 1), tx.now, after, 2)
            if not page:
                break
            seen += [ran.id for ran in page]
            after = (page[-1].deadline, page[-1].id)
    assert sorted(seen) == sorted(ran.id for ran in claimed)


async def test_the_seeds_views_show_its_own_column_names(ctx, store):
    await a_job(ctx, "coupon_job", every(ctx, 60, "coupon_job"))
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "1")
    columns = {
        "job_definition": "job_id tenant_id cron timezone status priority retry_policy created_at",
        "job_instance": "instance_id job_id fire_time state attempt worker_id idem_key updated_at",
        "retry_entry": "instance_id next_fire_time attempt reason",
        "dlq_entry": "instance_id error_code payload_ref created_at replay_status",
    }
    for view, names in columns.items():
        await query(store, f"select {', '.join(names.split())} from {view}")
    assert len(await query(store, "select * from job_instance")) == 1


async def test_an_old_attempts_answer_in_one_batch_with_the_new_ones_is_late_and_nobody_follows_it(ctx, store):
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "1")
    [old] = await claim_everywhere(store)
    await settle(store, old, LostAttempt())
    [new] = await claim_everywhere(store)
    followed = []
    settler = Settler(store.cell(old.shard), followed.append)
    results = [AttemptOutcome(old, None, FAILED), AttemptOutcome(new, None, FAILED)]
    assert await settler.settle(results) == (1, 1)
    [row] = await query(store, "select state, due_at from instance_live")
    assert (row["state"], [timer.at for timer in followed]) == ("FAIL", [row["due_at"]])
    assert settler.late == 1
