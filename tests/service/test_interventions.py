"""Looking for instances, and what people do to single ones and to many."""

from datetime import timedelta

import pytest

from horae.domain.errors import Conflict, Duplicate, NotFound, RetryLimited
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success, Unrecoverable
from horae.domain.instances.searches import LAST_ID, NEWEST, InstanceFilter
from horae.domain.jobs.jobs import JobFilter, Status
from horae.domain.limits.limits import Limit
from horae.domain.schedules import OnOverlap, Policies
from horae.domain.tenants.tenants import Allowance
from horae.service.context import PlatformContext
from horae.service.instances import dead_letters, instances, interventions, searches
from horae.service.jobs import bulk, jobs
from horae.service.jobs.bulk import BulkAction
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.store.instances.history import Bounds
from horae.upkeep.copies import Copier
from tests.steps import Looker, a_job, a_type, claim_everywhere, every, move_clock, query, settle

BUSY = Retryable(ErrorCode.HTTP_5XX, "503")
NO = Unrecoverable(ErrorCode.HTTP_4XX, "404")


async def triggered(ctx, name, many):
    return [(await instances.trigger(ctx, name, str(n), even_if_down=True)).instance_id for n in range(many)]


async def all_of_job(ctx, job, sought, bounds):
    found, before = [], NEWEST
    while before is not None:
        page = await searches.of_job(ctx, job, sought, before=before, bounds=bounds)
        found += page.found
        before = page.next
    return found


async def all_of_tenant(ctx, sought, limit):
    found, before = [], LAST_ID
    while True:
        page = await searches.of_tenant(ctx, sought, before=before, limit=limit)
        found += page.found
        if page.next is None:
            return found
        before = page.next.id


async def test_live_and_ended_instances_of_a_job_come_in_pages_without_gaps_or_doubles(ctx, store):
    job = await a_job(ctx, "a")
    ids = await triggered(ctx, "a", 20)
    for ran in (await claim_everywhere(store))[:12]:
        await settle(store, ran, Success() if int(ran.id) % 2 else NO)
    for bounds in (Bounds(3), Bounds(50), Bounds(3, scan=2), Bounds(50, scan=1)):
        found = await all_of_job(ctx, job, InstanceFilter(), bounds)
        assert sorted(past.id for past in found) == sorted(ids)
        assert [past.mark for past in found] == sorted((past.mark for past in found), reverse=True)
    live = await all_of_job(ctx, job, InstanceFilter(("INIT", "RUNNING")), Bounds(5, scan=2))
    assert len(live) == 8


async def test_a_tenants_instances_are_found_by_state_key_and_time_over_all_jobs_and_cells(ctx, store):
    await a_job(ctx, "a")
    await a_type(ctx, "T", width=64)
    await Copier(store).once()
    ids = await triggered(ctx, "a", 6)
    for n in range(10):
        ids.append((await tasks.schedule(ctx, "T", f"k{n}")).instance_id)
    await move_clock(store, hours=5)
    late = (await tasks.schedule(ctx, "T", "late")).instance_id
    for ran in await claim_everywhere(store):
        await settle(store, ran, Success() if ran.id != late else BUSY)
    found = await all_of_tenant(ctx, InstanceFilter(), 4)
    assert [past.id for past in found] == sorted([*ids, late], reverse=True)
    assert [past.id for past in await all_of_tenant(ctx, InstanceFilter(("FAIL",)), 4)] == [late]
    assert len(await all_of_tenant(ctx, InstanceFilter(business_key="k3"), 4)) == 1
    recent = InstanceFilter(since=store.cells[0].clock.now() - timedelta(hours=1))
    assert [past.id for past in await all_of_tenant(ctx, recent, 4)] == [late]


async def test_another_tenants_instances_are_not_found(ctx, store):
    await a_job(ctx, "a")
    [id_] = await triggered(ctx, "a", 1)
    other = ctx._replace(tenant=await tenants.create(PlatformContext(store, "test"), "other", width=4096))
    with pytest.raises(NotFound):
        await searches.find(other, id_)
    with pytest.raises(NotFound):
        await interventions.cancel(other, id_)
    with pytest.raises(NotFound):
        await interventions.retry(other, id_)
    assert await all_of_tenant(other, InstanceFilter(), 10) == []


async def test_one_instance_is_read_with_its_attempts_and_counted(ctx, store):
    job = await a_job(ctx, "a")
    [id_, _] = await triggered(ctx, "a", 2)
    for ran in await claim_everywhere(store):
        await settle(store, ran, BUSY if ran.id == id_ else Success())
    past = await searches.find(ctx, id_)
    assert (past.state, past.retry_count, past.error_msg) == ("FAIL", 1, "503")
    counted = await searches.counts(ctx, job)
    assert (counted.live["FAIL"], counted.live["RUNNING"], counted.ended) == (1, 0, {"SUCCESS": 1})


async def test_a_waiting_and_a_running_instance_are_cancelled_and_audited_a_final_one_is_not(ctx, store):
    await a_job(ctx, "a")
    ids = await triggered(ctx, "a", 2)
    [first] = [ran for ran in await claim_everywhere(store) if ran.id == ids[0]]
    for id_ in ids:
        assert (await interventions.cancel(ctx, id_)).state == "CANCELLED"
    assert (await settle(store, first, Success())).refused == 1, "a late answer finds no row"
    with pytest.raises(Conflict):
        await interventions.cancel(ctx, ids[0])
    told = await query(store, "select resource from audit_log where action = 'instance.cancelled'")
    assert {row["resource"] for row in told} == {public(Prefix.INSTANCE, id_) for id_ in ids}


async def test_cancelling_a_tasks_instance_is_known_to_its_key(ctx, store):
    await a_type(ctx, "T")
    id_ = (await tasks.schedule(ctx, "T", "k")).instance_id
    await interventions.cancel(ctx, id_)
    shown = await tasks.show(ctx, "T", "k")
    assert shown.known.ledger.outcome == "CANCELLED"
    assert shown.decisions[-1]["decision"] == "cancelled"


async def test_what_waited_behind_a_cancelled_fire_is_released(ctx, store):
    await a_job(ctx, "a", every(ctx, 1, "a"), policies=Policies(overlap=OnOverlap.QUEUE_ONE))
    looker = Looker(store, store.cell(ctx.tenant.shard("a")))
    for _ in range(2):
        await move_clock(store, seconds=1.1)
        await looker.once()
        await claim_everywhere(store)
    first, second = await query(store, "select id, state from instance_live order by fire_time")
    assert (first["state"], second["state"]) == ("RUNNING", "BLOCKED")
    await interventions.cancel(ctx, first["id"])
    [waits] = await query(store, "select id, state from instance_live")
    assert tuple(waits) == (second["id"], "INIT")


async def test_a_failed_instance_is_due_at_once_and_a_dead_one_is_replayed_even_if_it_was_a_replay(ctx, store):
    await a_job(ctx, "a")
    [failed, dead] = await triggered(ctx, "a", 2)
    for ran in await claim_everywhere(store):
        await settle(store, ran, BUSY if ran.id == failed else NO)
    assert await interventions.retry(ctx, failed) == failed
    past = await searches.find(ctx, failed)
    assert past.due_at <= ctx.now(shard_in(failed))
    again = await interventions.retry(ctx, dead)
    [ran] = [ran for ran in await claim_everywhere(store) if ran.id == again]
    await settle(store, ran, NO)
    thrice = await interventions.retry(ctx, again)
    assert thrice not in {dead, again}
    [letter] = await dead_letters.listing(ctx)
    assert (letter.instance_id, letter.replay_id) == (dead, thrice)
    with pytest.raises(Conflict):
        await interventions.retry(ctx, thrice)


async def test_retries_and_replays_above_the_tenants_budget_are_refused_and_send_nothing(ctx, store):
    await a_job(ctx, "a")
    await tenants.allow(ctx, ctx.tenant.name, Allowance(retries=Limit(rate=0.01, burst=2)))
    await Copier(store).once()
    ids = await triggered(ctx, "a", 4)
    for ran in await claim_everywhere(store):
        await settle(store, ran, NO if ran.id != ids[3] else BUSY)
    await dead_letters.replay(ctx, ids[0])
    await interventions.retry(ctx, ids[1])
    for refused in (dead_letters.replay(ctx, ids[2]), interventions.retry(ctx, ids[3])):
        with pytest.raises(RetryLimited) as limited:
            await refused
        assert limited.value.facts["retry_after"] == 100
    with pytest.raises(RetryLimited):
        await dead_letters.replay_by(ctx, job="a")
    await move_clock(store, seconds=101)
    await interventions.retry(ctx, ids[2])


async def test_the_same_key_with_another_payload_names_the_first_instance_and_its_state(ctx, store):
    await a_job(ctx, "a")
    first = await instances.trigger(ctx, "a", "k", payload={"n": 1}, even_if_down=True)
    assert (await instances.trigger(ctx, "a", "k", payload={"n": 1})).replayed, "what was done is told, node or not"
    with pytest.raises(Duplicate) as refused:
        await instances.trigger(ctx, "a", "k", payload={"n": 2}, even_if_down=True)
    assert refused.value.facts == {"instance_id": public(Prefix.INSTANCE, first.instance_id), "state": "INIT"}


async def test_many_jobs_are_paused_and_resumed_by_label_answered_item_by_item(ctx, store):
    for n in range(5):
        await a_job(ctx, f"j{n}", labels={"team": "x"})
    await a_job(ctx, "other")
    await jobs.pause(ctx, "j2")
    wanted = JobFilter(labels={"team": "x"})
    done = await bulk.run(ctx, BulkAction.PAUSE, wanted, limit=3)
    assert [(item.name, item.ok, item.code) for item in done.items] == [
        ("j0", True, None),
        ("j1", True, None),
        ("j2", False, "SCH_409_CONFLICT"),
    ]
    rest = await bulk.run(ctx, BulkAction.PAUSE, wanted, after=done.next, limit=3)
    assert [item.name for item in rest.items] == ["j3", "j4"]
    assert rest.next is None
    assert (await jobs.find(ctx, "other")).status is Status.ACTIVE
    resumed = await bulk.run(ctx, BulkAction.RESUME, JobFilter(status=Status.PAUSED))
    assert len([item for item in resumed.items if item.ok]) == 5


async def test_many_jobs_are_triggered_under_one_key_once_each(ctx, store):
    for n in range(3):
        await a_job(ctx, f"j{n}")
    down = await bulk.run(ctx, BulkAction.TRIGGER, JobFilter(prefix="j"), key="k")
    assert {item.code for item in down.items} == {"SCH_503_DISPATCHER_DOWN"}
    assert await query(store, "select * from instance_live") == []


async def test_all_failed_instances_of_many_jobs_are_due_at_once(ctx, store):
    for name in ("a", "b"):
        await a_job(ctx, name)
        await triggered(ctx, name, 3)
    for ran in await claim_everywhere(store):
        await settle(store, ran, BUSY)
    await move_clock(store, milliseconds=-1)
    done = await bulk.run(ctx, BulkAction.RETRY, JobFilter(status=Status.ACTIVE))
    assert [len(item.instances) for item in done.items] == [3, 3]
    rows = await query(store, "select due_at, changed_at from instance_live")
    assert all(row["due_at"] == row["changed_at"] for row in rows)


class Heard:
    """Wake-ups as a node hears them."""

    def __init__(self):
        self.times = []

    def wake(self, shard, at):
        self.times.append(at)


async def test_a_wake_names_no_later_time_than_what_it_is_for_is_due(ctx, store):
    """A node looks from the named time on: a later one would leave it to the look of every five seconds."""
    job = await a_job(ctx, "a")
    heard = Heard()
    ctx = ctx._replace(wakes=heard)
    [id_] = await triggered(ctx, "a", 1)
    assert heard.times.pop() <= (await searches.find(ctx, id_)).due_at
    [ran] = await claim_everywhere(store)
    await settle(store, ran, BUSY)
    await interventions.retry(ctx, id_)
    assert heard.times.pop() <= (await searches.find(ctx, id_)).due_at
    [ran] = [*await claim_everywhere(store), *await claim_everywhere(store, lane=Lane.RETRY)]
    await settle(store, ran, NO)
    again = await dead_letters.replay(ctx, id_)
    assert heard.times.pop() <= (await searches.find(ctx, again)).due_at
    assert job.id == (await searches.find(ctx, again)).job_id
