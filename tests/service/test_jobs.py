from datetime import timedelta

import pytest

from horae.domain.errors import Conflict, DispatcherDown, Duplicate, Invalid, InvalidSchedule, NameTaken, NotFound
from horae.domain.schedules import Policies
from horae.domain.schedules.triggers import DelayTrigger, OnceTrigger, cron
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from tests.keyring import clear
from tests.nodes import node_in
from tests.steps import a_job, a_type, amid, every, move_clock, query

TTL = timedelta(seconds=8)


async def one(store, text, *args):
    [row] = await query(store, text, *args)
    return row


async def test_a_new_job_leaves_version_cursor_event_and_audit_row(ctx, store):
    job = await a_job(ctx, "coupon_job", cron("0 */5 * * * ?"))
    assert (job.version, job.status) == (1, "ACTIVE")
    cursor = await one(store, "select * from job_cursor where job_id = $1", job.id)
    assert cursor["next_fire_at"] == job.next_fire_at
    version = await one(store, "select * from job_version where job_id = $1", job.id)
    assert (version["version"], version["created_by"]) == (1, "test")
    event = await one(store, "select * from outbox where job_id = $1", job.id)
    audit = await one(store, "select * from audit_log where action = 'job.created'")
    assert event["event"] == "JOB_CREATED"
    assert event["xid"] == audit["xid"], "state, event and audit row commit together"
    seed = await one(store, "select cron, timezone, status from job_definition where job_id = $1", job.id)
    assert tuple(seed) == ("0 */5 * * * ?", "UTC", "ACTIVE")


async def test_a_refused_job_leaves_nothing(ctx, store):
    await a_job(ctx, "a")
    before = [len(await query(store, f"select * from {table}")) for table in ("job", "outbox", "audit_log")]
    with pytest.raises(NameTaken):
        await a_job(ctx, "a")
    with pytest.raises(InvalidSchedule):
        await a_job(ctx, "b", cron("0 0 30 2 *"))
    with pytest.raises(Invalid):
        await a_job(ctx, "a/b")
    with pytest.raises(Invalid):
        await a_type(ctx, "c", width=5)
    after = [len(await query(store, f"select * from {table}")) for table in ("job", "outbox", "audit_log")]
    assert after == before


async def test_a_name_is_free_again_after_removal(ctx, store):
    first = await a_job(ctx, "a")
    await jobs.remove(ctx, "a")
    with pytest.raises(NotFound):
        await jobs.find(ctx, "a")
    second = await a_job(ctx, "a")
    assert first.id != second.id
    assert [job.id for job in await jobs.listing(ctx)] == [second.id]


@pytest.mark.parametrize("paused", [False, True])
async def test_a_job_that_is_removed_leaves_a_row_of_the_fires_that_nobody_came_to(ctx, store, paused):
    """F4's sibling: nothing that was due is dropped silently."""
    job = await a_job(ctx, "a", every(ctx, 60, "a"))
    if paused:
        await jobs.pause(ctx, "a")
    await move_clock(store, minutes=10, seconds=30)
    await jobs.remove(ctx, "a")
    left = await query(store, "select state, reason, range_count, fire_time, range_to from instance_history")
    last = job.next_fire_at + timedelta(minutes=9)
    reason = "PAUSED" if paused else "REMOVED"
    assert [tuple(row) for row in left] == [("SKIPPED", reason, 10, job.next_fire_at, last)]
    assert await query(store, "select from job_cursor") == []


async def test_a_job_that_is_removed_on_time_owes_nothing(ctx, store):
    await a_job(ctx, "a", every(ctx, 60, "a"))
    await jobs.remove(ctx, "a")
    assert await query(store, "select from instance_history") == []


async def test_pause_stops_the_cursor_and_resume_goes_on_from_now_with_one_range_row(ctx, store):
    job = await a_job(ctx, "a", every(ctx, 60, "a"))
    await jobs.pause(ctx, "a")
    await move_clock(store, minutes=10, seconds=30)
    node = node_in(store, "n", TTL)
    assert await node.drain() == 0
    resumed = await jobs.resume(ctx, "a")
    skipped = await one(store, "select * from instance_history")
    assert (skipped["state"], skipped["reason"], skipped["range_count"]) == ("SKIPPED", "PAUSED", 10)
    assert skipped["fire_time"] == job.next_fire_at
    assert skipped["range_to"] == job.next_fire_at + timedelta(minutes=9)
    assert resumed.next_fire_at == job.next_fire_at + timedelta(minutes=10)
    cursor = await one(store, "select next_fire_at from job_cursor")
    assert cursor["next_fire_at"] == resumed.next_fire_at
    actions = [row["action"] for row in await query(store, "select action from audit_log order by at, id")]
    assert actions == ["tenant.created", "job.created", "job.paused", "job.resumed"]


async def test_a_job_resumed_after_its_end_tells_of_no_fire_beyond_it_and_is_completed(ctx, store):
    trigger = every(ctx, 60, "a")
    until = Policies(end=trigger.anchor + timedelta(minutes=5))
    job = await a_job(ctx, "a", trigger, policies=until)
    await jobs.pause(ctx, "a")
    await move_clock(store, minutes=20)
    resumed = await jobs.resume(ctx, "a")
    assert (resumed.status, resumed.next_fire_at) == ("COMPLETED", None)
    skipped = await one(store, "select * from instance_history")
    assert (skipped["reason"], skipped["fire_time"], skipped["range_count"]) == ("PAUSED", job.next_fire_at, 4)
    assert skipped["range_to"] == until.end - timedelta(minutes=1)
    assert (await one(store, "select status from job"))["status"] == "COMPLETED"


async def test_resuming_before_the_next_fire_skips_nothing(ctx, store):
    job = await a_job(ctx, "a", every(ctx, 3600, "a"))
    await jobs.pause(ctx, "a")
    assert (await jobs.resume(ctx, "a")).next_fire_at == job.next_fire_at
    assert await query(store, "select * from instance_history") == []


async def test_a_verb_that_means_nothing_now_is_a_conflict(ctx):
    await a_job(ctx, "a")
    with pytest.raises(Conflict):
        await jobs.resume(ctx, "a")
    await jobs.pause(ctx, "a")
    with pytest.raises(Conflict):
        await jobs.pause(ctx, "a")
    with pytest.raises(Conflict):
        await instances.trigger(ctx, "a", "k", even_if_down=True)


async def test_removing_a_job_cancels_what_waits(ctx, store):
    await a_job(ctx, "once", OnceTrigger(store.cells[0].clock.now() + timedelta(hours=1)))
    await jobs.remove(ctx, "once")
    past = await one(store, "select state from instance_history")
    assert past["state"] == "CANCELLED"
    assert await query(store, "select * from instance_live") == []
    assert await query(store, "select * from job_cursor") == []


async def test_a_once_job_moves_like_a_task_whose_key_is_the_job(ctx, store):
    now = store.cells[0].clock.now()
    job = await a_job(ctx, "launch", OnceTrigger(now + timedelta(hours=1)), payload={"a": 1})
    moved = await tasks.schedule(ctx, "launch", "self", at=now + timedelta(hours=2))
    assert moved.decision == "moved"
    live = await clear(store, await one(store, "select * from instance_live"))
    assert (live["shard_id"], live["payload"], live["fire_time"]) == (job.shard, {"a": 1}, now + timedelta(hours=2))


async def test_a_delay_counts_from_the_moment_it_was_asked_for(ctx, store):
    before = store.cells[0].clock.now()
    job = await a_job(ctx, "later", DelayTrigger(90))
    after = job.next_fire_at - before
    assert timedelta(seconds=89) < after < timedelta(seconds=100)  # the cells' clocks differ a little


async def test_the_same_key_triggers_once_and_another_body_is_a_duplicate(ctx, store):
    await amid(store, 60)
    await a_job(ctx, "a", expires_after=timedelta(days=2).total_seconds())
    with pytest.raises(DispatcherDown):
        await instances.trigger(ctx, "a", "k1")
    node = node_in(store, "n", TTL)
    await node.drain()
    first = await instances.trigger(ctx, "a", "k1", payload={"n": 1})
    again = await instances.trigger(ctx, "a", "k1", payload={"n": 1})
    assert (first.instance_id, first.replayed, again.replayed) == (again.instance_id, False, True)
    with pytest.raises(Duplicate):
        await instances.trigger(ctx, "a", "k1", payload={"n": 2})
    with pytest.raises(Invalid):
        await instances.trigger(ctx, "a", "")
    assert len(await query(store, "select * from instance_live")) == 1
    await move_clock(store, hours=25)
    await node.drain()
    with pytest.raises(Duplicate, match="in flight"):
        await instances.trigger(ctx, "a", "k1", payload={"n": 2})
    await query(store, "delete from instance_live")
    later = await instances.trigger(ctx, "a", "k1", payload={"n": 2})
    assert not later.replayed, "a key is remembered for a day"


async def test_a_tenant_is_made_once(ctx, store):
    with pytest.raises(Conflict):
        await tenants.create(ctx, ctx.tenant.name)
    assert await tenants.find(store, ctx.tenant.name) == ctx.tenant
    with pytest.raises(NotFound):
        await tenants.find(store, "nobody")
