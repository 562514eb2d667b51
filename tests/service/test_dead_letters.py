"""Dead letters: one per intended effect, replayed under its own key, or given up; every decision audited."""

import asyncio
from datetime import timedelta

import pytest

from horae.domain.errors import Conflict, Invalid, NotFound
from horae.domain.instances.dead_letters import ReplayStatus
from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import DeclinedCall, ErrorCode, Success, Unrecoverable
from horae.domain.limits.limits import Limit
from horae.domain.schedules.triggers import DelayTrigger
from horae.domain.tasks.tasks import AfterSuccess
from horae.domain.tenants.tenants import Allowance
from horae.service.context import Context, PlatformContext
from horae.service.instances import dead_letters
from horae.service.jobs import jobs, problems
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.upkeep.copies import Copier
from tests.engine.test_fire import fire_all
from tests.steps import a_job, a_type, claim_everywhere, every, move_clock, query, settle

TYPE = "ARTICLE_PUBLISH"
BUSY = Unrecoverable(ErrorCode.HTTP_5XX, "answered 503")
GONE = Unrecoverable(ErrorCode.HTTP_4XX, "answered 404")


@pytest.fixture
async def type_(ctx, store):
    job = await a_type(ctx, TYPE)
    await Copier(store).once()
    return job


async def dead(ctx, store, *keys, outcome=BUSY, **facts):
    """Tasks that died, by key."""
    died = [(await tasks.schedule(ctx, TYPE, key, **facts)).instance_id for key in keys]
    while claimed := await claim_everywhere(store):
        for ran in claimed:
            await settle(store, ran, outcome)
    return died


async def run_replay(store, outcome, *, lane=Lane.FIRST):
    [ran] = await claim_everywhere(store, lane=lane)
    await settle(store, ran, outcome)
    return ran


async def letter(store):
    [row] = await query(store, "select * from dead_letter")
    return row


async def status(store):
    return (await letter(store))["replay_status"]


async def test_a_replay_is_a_new_instance_with_the_same_time_key_and_payload(ctx, store, type_):
    at = store.cells[0].clock.now() - timedelta(hours=1)
    [died] = await dead(ctx, store, "42", at=at, payload={"title": "x"})
    [past] = await query(store, "select * from instance_history")
    made = await dead_letters.replay(ctx, died)
    [live] = await query(store, "select * from instance_live")
    assert live["id"] == made != died
    for column in ("fire_time", "idem_key", "business_key", "generation", "payload", "tenant_id", "job_id"):
        assert live[column] == past[column], column
    assert (live["state"], live["attempt"], live["retry_count"], live["lane"]) == ("INIT", 0, 0, Lane.FIRST)
    assert live["due_at"] > live["fire_time"] == at
    row = await letter(store)
    assert (row["replay_status"], row["replay_id"]) == ("REPLAYING", made)
    assert (await run_replay(store, Success())).id == made
    assert await status(store) == "REPLAYED"
    with pytest.raises(Conflict):
        await dead_letters.replay(ctx, died)


async def test_a_replay_and_a_discard_leave_their_audit_rows_and_events(ctx, store, type_):
    one, two = await dead(ctx, store, "1", "2")
    await dead_letters.replay(ctx, one)
    await dead_letters.discard(ctx, two)
    audited = await query(store, "select action, actor from audit_log where action like 'dead_letter%' order by 1")
    assert [tuple(row) for row in audited] == [("dead_letter.discarded", "test"), ("dead_letter.replayed", "test")]
    told = await query(store, "select event, body from outbox where event ~ 'REPLAYED|DISCARDED' order by 1")
    assert [row["event"] for row in told] == ["DEAD_LETTER_DISCARDED", "INSTANCE_REPLAYED"]
    assert told[1]["body"]["replay_of"] == str(one)
    with pytest.raises(Conflict):
        await dead_letters.replay(ctx, two)


async def test_a_replay_that_dies_again_is_the_same_letter_with_the_new_reason(ctx, store, type_):
    [died] = await dead(ctx, store, "42")
    await dead_letters.replay(ctx, died)
    again = await run_replay(store, GONE)
    row = await letter(store)
    assert (row["instance_id"], row["replay_id"], row["replay_status"]) == (died, again.id, "DEAD_AGAIN")
    assert (row["error_code"], row["error_msg"], row["tag"]) == ("HTTP_4XX", "answered 404", None)
    third = await dead_letters.replay(ctx, died)
    assert (await run_replay(store, Success())).id == third
    assert await status(store) == "REPLAYED"


async def test_the_open_ones_are_those_that_the_list_of_problem_jobs_counts(ctx, store, type_):
    new, again, discarded = await dead(ctx, store, "new", "again", "discarded")
    await dead_letters.replay(ctx, again)
    await run_replay(store, GONE)
    await dead_letters.discard(ctx, discarded)
    listed = await dead_letters.listing(ctx, statuses=[ReplayStatus.NEW, ReplayStatus.DEAD_AGAIN])
    assert {one.instance_id for one in listed} == {new, again}
    assert len(await dead_letters.listing(ctx, job=TYPE, statuses=[ReplayStatus.NEW, ReplayStatus.DEAD_AGAIN])) == 2
    [problem] = (await problems.listing(ctx)).found
    assert problem.dead == len(listed)
    assert len(await dead_letters.listing(ctx)) == 3


async def test_a_declined_replay_is_replayed_and_a_cancelled_one_is_new_again(ctx, store, type_):
    [died] = await dead(ctx, store, "42")
    await dead_letters.replay(ctx, died)
    await tasks.cancel(ctx, TYPE, "42")
    assert await status(store) == "NEW"
    await dead_letters.replay(ctx, died)
    await run_replay(store, DeclinedCall("not pending"))
    assert await status(store) == "REPLAYED"


async def test_a_replay_that_is_rescheduled_while_it_runs_still_answers_to_its_letter(ctx, store, type_):
    [died] = await dead(ctx, store, "42")
    await dead_letters.replay(ctx, died)
    [running] = await claim_everywhere(store)
    replaced = await tasks.schedule(ctx, TYPE, "42")
    assert (replaced.decision, replaced.replaced_id) == ("replaced", running.id)
    assert await status(store) == "REPLAYING"
    assert (await run_replay(store, Success())).id == replaced.instance_id
    assert await status(store) == "REPLAYED"


async def test_removing_its_job_cancels_a_waiting_replay_and_no_other_can_be_made(ctx, store):
    await a_job(ctx, "once", DelayTrigger(0))
    [ran] = await claim_everywhere(store)
    await settle(store, ran, BUSY)
    await dead_letters.replay(ctx, ran.id)
    await jobs.remove(ctx, "once")
    assert await status(store) == "NEW"
    with pytest.raises(Conflict, match="removed"):
        await dead_letters.replay(ctx, ran.id)
    assert await dead_letters.replay_by(ctx, tag="transient_error") == (0, 1)


async def test_the_replay_is_its_keys_live_instance(ctx, store, type_):
    [died] = await dead(ctx, store, "42")
    made = await dead_letters.replay(ctx, died)
    moved = await tasks.schedule(ctx, TYPE, "42", at=store.cells[0].clock.now() + timedelta(hours=1))
    assert (moved.decision, moved.instance_id) == ("moved", made)
    shown = await tasks.show(ctx, TYPE, "42")
    assert [line["decision"] for line in shown.decisions] == ["created", "replayed", "moved"]
    assert (shown.known.ledger.generation, shown.known.ledger.instance_id) == (1, made)
    await move_clock(store, hours=2)
    await run_replay(store, Success())
    assert (await tasks.schedule(ctx, TYPE, "42")).reason == "succeeded"


async def test_a_key_that_lives_or_went_on_refuses_the_replay_and_nothing_changes(ctx, store):
    await a_type(ctx, TYPE, after_success=AfterSuccess.REOPEN)
    await Copier(store).once()
    [died] = await dead(ctx, store, "42")
    await tasks.schedule(ctx, TYPE, "42")
    with pytest.raises(Conflict, match="business key"):
        await dead_letters.replay(ctx, died)
    await run_replay(store, Success())
    with pytest.raises(Conflict, match="business key"):
        await dead_letters.replay(ctx, died)
    assert await dead_letters.replay_by(ctx, job=TYPE) == (0, 0)
    assert await status(store) == "NEW"
    assert await query(store, "select * from instance_live") == []


async def test_a_key_that_succeeded_in_the_same_generation_is_not_replayed(ctx, store, type_):
    [died] = await dead(ctx, store, "42")
    await query(store, "update task_key set outcome = 'SUCCESS'")
    with pytest.raises(Conflict):
        await dead_letters.replay(ctx, died)


async def test_a_recurring_fire_is_replayed_by_the_job_as_it_is_now(ctx, store):
    job = await a_job(ctx, "hourly", every(ctx, 3600, "hourly"))
    await move_clock(store, hours=1)
    await fire_all(store)
    [ran] = await claim_everywhere(store)
    await settle(store, ran, BUSY)
    await schedules.update(ctx, "hourly", job.definition)
    await dead_letters.replay(ctx, ran.id)
    [live] = await query(store, "select * from instance_live")
    assert (live["idem_key"], live["fire_time"], live["job_version"]) == (ran.idem_key, ran.fire_time, 2)
    await run_replay(store, Success())
    assert await status(store) == "REPLAYED"


async def test_seed_002_example_7_many_go_as_a_backfill_over_all_cells_up_to_the_limit(ctx, store, type_):
    await dead(ctx, store, *(f"b{n}" for n in range(250)))
    await dead(ctx, store, "c", outcome=GONE)
    assert await dead_letters.replay_by(ctx, tag="transient_error", limit=210) == (210, 0)
    assert await dead_letters.replay_by(ctx, tag="transient_error", limit=5000) == (40, 0)
    assert await dead_letters.replay_by(ctx, tag="transient_error", limit=5000) == (0, 0)
    rows = await query(store, "select lane, count(*) from instance_live group by 1")
    assert {row["lane"] for row in rows} == {Lane.BACKFILL}
    assert sum(row["count"] for row in rows) == 250
    [other] = await dead_letters.listing(ctx, statuses=["NEW"])
    assert (other.business_key, other.error_code, other.job) == ("c", "HTTP_4XX", TYPE)
    audited = await query(store, "select detail from audit_log where action = 'dead_letter.replayed'")
    assert sum(len(row["detail"]["letters"]) for row in audited) == 250


async def test_letters_are_listed_newest_first_by_page_and_filter(ctx, store, type_):
    died = []
    for n in range(7):
        died += await dead(ctx, store, str(n), outcome=BUSY if n % 2 else GONE)
        await move_clock(store, seconds=1)
    page = await dead_letters.listing(ctx, limit=4)
    rest = await dead_letters.listing(ctx, limit=4, before=page[-1].mark)
    assert [one.instance_id for one in page + rest] == died[::-1]
    for facts, keys in (
        ({"tag": "transient_error"}, "531"),
        ({"error_code": "HTTP_4XX"}, "6420"),
        ({"job": TYPE, "tag": "transient_error"}, "531"),
        ({"job": TYPE, "statuses": ["REPLAYED"]}, ""),
    ):
        assert [one.business_key for one in await dead_letters.listing(ctx, **facts)] == list(keys), facts
    with pytest.raises(NotFound):
        await dead_letters.listing(ctx, job="nothing")


async def test_another_tenants_letters_are_not_there(ctx, store, type_):
    [died] = await dead(ctx, store, "42")
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other"), "test")
    assert await dead_letters.listing(other) == []
    for verb in (dead_letters.replay, dead_letters.discard):
        with pytest.raises(NotFound):
            await verb(other, died)
    assert await dead_letters.replay_by(other, tag="transient_error") == (0, 0)
    assert await status(store) == "NEW"


async def test_a_replay_of_everything_has_to_say_what_it_means(ctx):
    for facts in ({}, {"tag": "transient_error", "limit": 0}, {"tag": "transient_error", "limit": 10_001}):
        with pytest.raises(Invalid):
            await dead_letters.replay_by(ctx, **facts)


async def test_of_many_who_replay_or_discard_at_once_one_wins(ctx, store, type_):
    died = await dead(ctx, store, *map(str, range(6)))
    asked = [
        verb(ctx, id_) for id_ in died for verb in (dead_letters.replay, dead_letters.discard, dead_letters.replay)
    ]
    bulk = [dead_letters.replay_by(ctx, job=TYPE) for _ in range(3)]
    done = await asyncio.gather(*asked, *bulk, return_exceptions=True)
    assert all(not isinstance(one, Exception) or isinstance(one, Conflict) for one in done), done
    rows = await query(store, "select replay_status, replay_id, business_key from dead_letter")
    live = await query(store, "select id, business_key from instance_live")
    assert {row["replay_status"] for row in rows} <= {"REPLAYING", "DISCARDED"}
    replaying = {row["business_key"]: row["replay_id"] for row in rows if row["replay_status"] == "REPLAYING"}
    assert {row["business_key"]: row["id"] for row in live} == replaying


async def test_a_replay_against_a_reschedule_leaves_one_live_instance_and_a_true_ledger(ctx, store, type_):
    keys = list(map(str, range(12)))
    died = await dead(ctx, store, *keys)
    work = [dead_letters.replay(ctx, id_) for id_ in died] + [tasks.schedule(ctx, TYPE, key) for key in keys]
    done = await asyncio.gather(*work, return_exceptions=True)
    assert all(not isinstance(one, Exception) or isinstance(one, Conflict) for one in done), done
    live = await query(store, "select id, business_key, generation from instance_live")
    ledgers = await query(store, "select instance_id, business_key, generation, outcome from task_key")
    assert sorted(map(tuple, live)) == sorted(tuple(row)[:3] for row in ledgers)
    assert {row["outcome"] for row in ledgers} == {None}
    letters = await query(store, "select replay_status, replay_id, instance_id from dead_letter")
    generation = {row["id"]: row["generation"] for row in live}
    for row in letters:
        assert (row["replay_status"] == "REPLAYING") == (generation.get(row["replay_id"]) == 1), tuple(row)


async def test_letters_whose_keys_went_on_cost_nothing_and_keep_nobody_behind_them_waiting(ctx, store, type_):
    await tenants.allow(PlatformContext(store, "test"), "acme", Allowance(retries=Limit(rate=0.001, burst=2)))
    await Copier(store).once()
    keys = [str(n) for n in range(5)]
    await dead(ctx, store, *keys)
    for key in keys:
        await tasks.schedule(ctx, TYPE, key)  # the business has simply asked again
    await dead(ctx, store, "last", "night")
    assert await dead_letters.replay_by(ctx, tag="transient_error") == (2, 0)
