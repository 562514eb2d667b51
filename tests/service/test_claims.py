"""What a worker gets from a queue, in which order, and what it never gets."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from horae.domain.errors import Invalid, Unavailable
from horae.domain.ids import shard_in
from horae.domain.instances.instances import Priority
from horae.domain.schedules.triggers import DelayTrigger, ManualTrigger
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.workers import FailureReport, Finish
from horae.service.context import Context, PlatformContext
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.service.workers import workers
from horae.service.workers.claims import BACKFILL_TURN
from horae.store.nodes import shards
from horae.store.workers import workers as rows
from horae.upkeep.copies import Copier
from tests.steps import a_job, a_type, move_clock, query

MAIL = QueueTarget("mail", claim_seconds=60)


async def mail_type(ctx, store, name="MAIL", **facts):
    job = await a_type(ctx, name, target=MAIL, **facts)
    await Copier(store).once()
    return job


async def put(ctx, many, name="MAIL", **facts):
    return [(await tasks.schedule(ctx, name, str(n), **facts)).instance_id for n in range(many)]


async def test_a_worker_sees_job_key_time_payload_and_a_token_of_its_own(ctx, store):
    await mail_type(ctx, store, payload={"from": "us"})
    await tasks.schedule(ctx, "MAIL", "own", payload={"to": "you"})
    await tasks.schedule(ctx, "MAIL", "job's")
    own, jobs_own = sorted(await workers.claim(ctx, "mail", "w-1"), key=lambda one: one.key, reverse=True)
    assert (own.job, own.key, own.attempt, own.payload) == ("MAIL", "own", 1, {"to": "you"})
    assert jobs_own.payload == {"from": "us"}
    assert own.token != jobs_own.token
    row = next(row for row in await query(store, "select * from instance_live") if row["business_key"] == "own")
    assert (row["state"], row["owner"], row["worker_id"]) == ("RUNNING", None, "w-1")
    assert (row["idem_key"], row["fire_time"], row["deadline"]) == (own.idempotency_key, own.fire_time, own.deadline)
    assert row["deadline"] - row["changed_at"] == timedelta(seconds=60)
    assert row["trigger_delay_ms"] is not None
    assert str(row["token"]) not in own.token
    assert await workers.claim(ctx, "mail", "w-2") == []


async def test_every_cell_is_asked_and_other_queues_and_tenants_are_not(ctx, store):
    await mail_type(ctx, store)
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other"), "test")
    await mail_type(other, store)
    await a_job(ctx, "elsewhere", DelayTrigger(0), target=QueueTarget("sms"))
    ids = set(await put(ctx, 40))
    await put(other, 3)
    claimed = await workers.claim(ctx, "mail", "w")
    assert {one.instance_id for one in claimed} == ids
    assert len({store.cell(shard_in(one.instance_id)) for one in claimed}) == 2


async def test_critical_before_normal_before_low_and_a_backfill_last(ctx, store):
    for priority in Priority:
        await a_job(ctx, priority.name, ManualTrigger(), target=MAIL, priority=priority)
        for n in range(3):
            await instances.trigger(ctx, priority.name, str(n), even_if_down=True)
    await query(store, "update instance_live set lane = 2 where idem_key like '%:1'")
    await query(store, "update instance_live set lane = 1, state = 'FAIL', retry_count = 1 where idem_key like '%:2'")
    got = []
    while one := await workers.claim(ctx, "mail", "w", 1):
        got.append((one[0].job, one[0].idempotency_key[-1]))
    order = [name for name, _ in got]
    assert order == ["CRITICAL"] * 3 + ["NORMAL"] * 3 + ["LOW"] * 3
    assert [number for _, number in got[2::3]] == ["1", "1", "1"], "backfill last of its priority"


async def test_a_backfill_does_not_starve_behind_more_work_than_workers_can_do(ctx, store):
    await a_job(ctx, "busy", ManualTrigger(), target=MAIL)
    for n in range(BACKFILL_TURN + 3):
        await instances.trigger(ctx, "busy", str(n), even_if_down=True)
    await query(store, "update instance_live set lane = 2 where idem_key like '%:0'")
    got = [(await workers.claim(ctx, "mail", "w", 1))[0].idempotency_key for _ in range(BACKFILL_TURN)]
    assert [key.rpartition(":")[2] for key in got].index("0") == BACKFILL_TURN - 1


async def test_a_retry_does_not_starve_behind_newer_first_tries(ctx, store):
    await mail_type(ctx, store)
    await put(ctx, 2)
    [failed] = await workers.claim(ctx, "mail", "w", 1)
    await workers.finish(ctx, [Finish(failed.instance_id, 1, failed.token, FailureReport("no"))])
    await query(store, "update instance_live set due_at = due_at - interval '1 hour' where state = 'FAIL'")
    [again] = await workers.claim(ctx, "mail", "w", 1)
    assert (again.instance_id, again.attempt) == (failed.instance_id, 2)


async def test_many_workers_at_once_get_each_instance_once_and_never_more_than_asked(ctx, store):
    await mail_type(ctx, store)
    ids = await put(ctx, 60)
    rounds = []
    for _ in range(4):
        rounds += await asyncio.gather(*(workers.claim(ctx, "mail", f"w-{n}", 4) for n in range(8)))
    assert max(map(len, rounds)) == 4
    assert sorted(one.instance_id for got in rounds for one in got) == sorted(ids)


async def test_paused_jobs_and_what_is_due_later_are_passed_over(ctx, store):
    await mail_type(ctx, store)
    await mail_type(ctx, store, "LATER")
    await put(ctx, 5)
    await put(ctx, 1, "LATER", at=store.cells[0].clock.now() + timedelta(hours=1))
    await jobs.pause(ctx, "MAIL")
    await Copier(store).once()
    assert await workers.claim(ctx, "mail", "w") == []
    await move_clock(store, hours=2)
    assert [one.job for one in await workers.claim(ctx, "mail", "w")] == ["LATER"]
    await jobs.resume(ctx, "MAIL")
    await Copier(store).once()
    assert len(await workers.claim(ctx, "mail", "w")) == 5


async def test_tasks_of_a_removed_type_are_told_and_not_handed_out(ctx, store):
    await mail_type(ctx, store)
    await put(ctx, 6)
    await jobs.remove(ctx, "MAIL")
    await Copier(store).once()
    assert await workers.claim(ctx, "mail", "w") == []
    rows = await query(store, "select state, reason from instance_history")
    assert {tuple(row) for row in rows} <= {("SKIPPED", "REMOVED"), ("CANCELLED", None)}
    assert len(rows) == 6


async def test_a_task_whose_types_copy_is_on_its_way_waits_uncounted(ctx, store):
    job = await a_type(ctx, "MAIL", target=MAIL)
    ids = await put(ctx, 10)
    [other] = [cell for cell in store.cells if cell is not store.cell(job.shard)]
    # the oldest go first: behind those at home, the definition of which is remembered, these would go as well
    await query(other, "update instance_live set due_at = due_at - interval '1 hour'")
    claimed = await workers.claim(ctx, "mail", "w")
    assert {store.cell(shard_in(one.instance_id)) for one in claimed} == {store.cell(job.shard)}
    rows = await query(store, "select attempt, state from instance_live where state <> 'RUNNING'")
    assert {tuple(row) for row in rows} == {(0, "INIT")}
    await Copier(store).once()
    claimed += await workers.claim(ctx, "mail", "w")
    assert sorted(one.instance_id for one in claimed) == sorted(ids)
    assert {one.attempt for one in claimed} == {1}


async def test_rows_of_a_closed_shard_do_not_stand_in_the_way_of_the_others(ctx, store):
    await mail_type(ctx, store)
    first, *rest = await put(ctx, 6)
    shard = shard_in(first)
    async with store.cell(shard).tx() as tx:
        await shards.freeze(tx, [shard])
    got = [one.instance_id for _ in range(6) for one in await workers.claim(ctx, "mail", "w", 1)]
    assert sorted(got) == sorted(id_ for id_ in rest if shard_in(id_) != shard)


async def test_a_cell_that_is_down_does_not_hold_up_the_others(ctx, store):
    await mail_type(ctx, store)
    ids = await put(ctx, 20)
    down, up = store.cells
    pools = [cell._pool for cell in store.cells]
    down._pool = _Down()
    try:
        claimed = await workers.claim(ctx, "mail", "w")
        assert {store.cell(shard_in(one.instance_id)) for one in claimed} == {up}
        up._pool = _Down()
        with pytest.raises(Unavailable):
            await workers.claim(ctx, "mail", "w")
    finally:
        down._pool, up._pool = pools
    claimed += await workers.claim(ctx, "mail", "w")
    assert sorted(one.instance_id for one in claimed) == sorted(ids)


class _Down:
    def acquire(self, **_facts):
        raise ConnectionError("the cell is down")

    def get_size(self):
        return 0


async def test_a_claim_needs_a_worker_and_a_size(ctx):
    for worker_id, limit in (("", 1), ("w", 0), ("w", 1001)):
        with pytest.raises(Invalid):
            await workers.claim(ctx, "mail", worker_id, limit)


async def test_a_cell_without_room_keeps_nothing_from_a_worker_that_another_cell_gave(ctx, store, monkeypatch):
    await mail_type(ctx, store)
    await put(ctx, 40)
    async with store.cells[1].statement() as tx:
        full, claim = await tx.value("select current_database()"), rows.claim

    async def claimed(tx, *args):
        if await tx.value("select current_database()") == full:
            raise asyncpg.DiskFullError("no space left on device")
        return await claim(tx, *args)

    monkeypatch.setattr(rows, "claim", claimed)
    given = {one.instance_id for one in await workers.claim(ctx, "mail", "w")}
    running = await query(store, "select id from instance_live where state = 'RUNNING'")
    assert given == {row["id"] for row in running}
    assert 0 < len(given) < 40
    with pytest.raises(asyncpg.DiskFullError):
        await workers.claim(ctx, "mail", "w")
