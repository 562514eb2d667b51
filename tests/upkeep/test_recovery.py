"""Recovery from an incident: every step is done once, whoever is killed, and what was set is lifted."""

from itertools import count
from uuid import uuid4

import asyncpg
import pytest

from horae.domain.errors import Conflict, Invalid
from horae.domain.events.channels import Broker
from horae.domain.incidents.incidents import RESUME_DEADLINE, STEPS, IncidentGrade, IncidentResult, RecoveryStep
from horae.domain.instances.instances import Priority
from horae.domain.measures.in_force import NO_MEASURES
from horae.domain.measures.measures import MeasureAction
from horae.domain.placement import SHARDS
from horae.service.context import Context, PlatformContext
from horae.service.incidents import incidents
from horae.service.instances import requeues
from horae.service.jobs import jobs
from horae.service.tenants import tenants
from horae.store.incidents import effects
from horae.upkeep.copies import Copier
from horae.upkeep.measures import MeasureReader
from horae.upkeep.recovery import RecoveryExecutor
from horae.upkeep.recovery_steps import LEASE_TTL
from tests.steps import a_job, a_type, move_clock, query
from tests.upkeep.recovering import (
    GONE,
    TYPE,
    KilledError,
    Killer,
    complete,
    hold_shards,
    let_die,
    overrides,
    revisions,
    show,
    start,
    subscribe,
)

REPLAYS = "select replay_of, idem_key, fire_time from instance_live where replay_of is not null"
LETTERS = "select instance_id, idem_key, fire_time from dead_letter where tag = 'transient_error'"


@pytest.fixture
async def other(store):
    return Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=16), "test")


@pytest.fixture
async def world(store, ctx, other):
    """Two tenants with a type and a subscription each, and a node that holds every shard."""
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    for one in (ctx, other):
        await a_type(one, TYPE)
        await subscribe(one, "events")
    await Copier(store).once()
    await hold_shards(store)
    return store


async def test_recovery_does_every_step_and_ends_with_counts_rto_and_rpo(world, store, ctx, other):
    await let_die(ctx, store, *(f"a-{n}" for n in range(8)))
    await let_die(other, store, "b")
    await let_die(other, store, "never", outcome=GONE)
    incident = await start(store)
    done = await complete(store, incident.id)
    assert done.incident.result == IncidentResult.RECOVERY_COMPLETED
    assert [one.step for one in done.timeline if not one.part] == list(STEPS)
    summary = done.summary
    assert (summary.shards_held, summary.dead_letters_requeued, summary.dead_letters_refused) == (4096, 9, 0)
    assert summary.subscriptions_replayed == 2 * len(store.cells)
    [waits] = {row[0] for row in await query(store, "select current_setting('synchronous_commit') <> 'off'")}
    assert (summary.findings, summary.rpo_s) == (0, 0.0 if waits else None)
    assert summary.rto_s is not None
    assert summary.rto_s <= 20
    letters = {tuple(row) for row in await query(store, LETTERS)}
    assert {tuple(row) for row in await query(store, REPLAYS)} == letters, "fire time and idempotency key are kept"
    [event] = await query(store, "select body from outbox where event = 'RECOVERY_COMPLETED'")
    assert event["body"]["dead_letters_requeued"] == 9
    audited = await query(store, "select action from audit_log where action like '%incident%' or action like 'recov%'")
    assert sorted(row["action"] for row in audited) == ["incident.started", "recovery.completed"]


async def test_low_priority_and_backfills_are_withheld_and_critical_goes_first_until_it_is_lifted(world, store):
    incident = await start(store)
    executor, reader = RecoveryExecutor(store, uuid4()), MeasureReader(store)
    await executor.once()
    await reader.once()
    frozen = {MeasureAction.PAUSE_LOW, MeasureAction.CLOSE_BACKFILLS, MeasureAction.CRITICAL_FIRST}
    assert store.cells[0].measures.in_force.platform == frozen
    assert await overrides(store) == [True, True]
    await complete(store, incident.id)
    await reader.once()
    assert store.cells[0].measures.in_force is NO_MEASURES
    assert await overrides(store) == [False, False]


async def test_a_freeze_that_nobody_renews_ends_by_itself(world, store):
    await start(store)
    await RecoveryExecutor(store, uuid4()).once()
    reader = MeasureReader(store)
    await move_clock(store, minutes=11)
    await reader.once()
    assert store.cells[0].measures.in_force is NO_MEASURES


async def test_whoever_is_killed_after_any_transaction_is_followed_by_another(world, store, ctx, other, monkeypatch):
    killer, killed_at = Killer(monkeypatch, store), set()
    for transactions in count(1):
        await query(store, "update feed_position set xid = xid + 1000000")  # everything was delivered
        before = [await revisions(cell) for cell in store.cells]
        await query(store, "delete from instance_live where replay_of is not null")
        await let_die(ctx, store, f"a-{transactions}", f"b-{transactions}")
        await let_die(other, store, f"c-{transactions}")
        incident = await start(store)
        executor = RecoveryExecutor(store, uuid4())
        killer.left = transactions
        try:
            while (at := await show(store, incident.id)).incident.ended_at is None:
                await executor.once()
                if at.incident.step is RecoveryStep.AUDIT:
                    await move_clock(store, minutes=2)
        except KilledError:
            killed_at.add((await show(store, incident.id)).incident.step)
        else:
            break
        finally:
            killer.left = None
        done = await complete(store, incident.id)
        assert done.incident.result == IncidentResult.RECOVERY_COMPLETED
        assert (done.summary.dead_letters_requeued, done.summary.findings) == (3, 0)
        assert [one.step for one in done.timeline if not one.part] == list(STEPS)
        assert len(await query(store, REPLAYS)) == 3, "nothing is replayed twice"
        assert [await revisions(cell) for cell in store.cells] == [{one + 1 for one in own} for own in before]
        assert await overrides(store) == [False, False]
        ended = await query(store, "select from outbox where event = 'RECOVERY_COMPLETED'")
        assert len(ended) == transactions
    assert killed_at == set(STEPS)


async def test_two_nodes_never_work_on_one_incident_at_the_same_time(world, store):
    incident = await start(store)
    first, second = RecoveryExecutor(store, uuid4()), RecoveryExecutor(store, uuid4())
    assert await first.once() > 0
    at = (await show(store, incident.id)).incident
    await second.once()
    assert (await show(store, incident.id)).incident == at


async def test_a_step_that_cannot_be_done_is_left_at_its_deadline_and_the_timeline_says_so(world, store):
    await query(store, "update shard set owner = null where shard_id < 10")
    incident = await start(store)
    executor = RecoveryExecutor(store, uuid4())
    await executor.once()
    waiting = (await show(store, incident.id)).incident
    assert (waiting.step, waiting.error) == (RecoveryStep.HOLD_SHARDS, "no node holds 10 shards")
    await move_clock(store, seconds=RESUME_DEADLINE.total_seconds())
    done = await complete(store, incident.id)
    [left] = [one for one in done.timeline if one.step is RecoveryStep.HOLD_SHARDS]
    assert left.facts == {"shards": 4086, "unheld": 10, "missing": "no node holds 10 shards"}


async def test_recovery_starts_beside_a_cell_that_was_drained(world, store):
    drained, open_ = store.cells
    await query(drained, "update shard set state = 'ELSEWHERE', owner = null")
    await query(open_, "update shard set state = 'ACTIVE'")
    store.note_shards(drained.name, ())
    store.note_shards(open_.name, range(SHARDS))
    incident = await start(store)
    assert [row["id"] for row in await query(open_, "select id from incident")] == [incident.id]


async def test_a_step_that_fails_by_an_error_of_ours_is_left_at_its_deadline_too(world, store, monkeypatch):
    """Otherwise low priority would be withheld until a person stops the incident."""

    async def fails(*_):
        raise LookupError("planted")

    monkeypatch.setattr(effects, "loses_no_commits", fails)
    incident = await start(store)
    for _ in range(2):
        await RecoveryExecutor(store, uuid4()).once()
        await move_clock(store, seconds=LEASE_TTL.total_seconds() + 1)
    waits = (await show(store, incident.id)).incident
    assert (waits.step, waits.error) == (RecoveryStep.REACH_CELLS, "an error of ours (LookupError)")
    await move_clock(store, seconds=3600)
    found = await complete(store, incident.id)
    [entry] = [one for one in found.timeline if one.step is RecoveryStep.REACH_CELLS]
    assert entry.facts["missing"] == "an error of ours (LookupError)"


async def test_dead_letters_of_a_tenant_whose_page_is_cut_hold_no_other_tenant_back(
    world, store, ctx, other, monkeypatch
):
    await let_die(ctx, store, "a")
    await let_die(other, store, "b")
    replay_page, asked = requeues.replay_page, []

    async def cut(caller, *args):
        asked.append(caller.tenant.id)
        if caller.tenant.id == asked[0]:
            raise asyncpg.QueryCanceledError("canceling statement due to statement timeout")
        return await replay_page(caller, *args)

    monkeypatch.setattr(requeues, "replay_page", cut)
    incident = await start(store)
    await complete_until(store, incident.id, RecoveryStep.REQUEUE)
    replayed = await query(store, "select tenant_id from instance_live where replay_of is not null")
    assert {row["tenant_id"] for row in replayed} == {ctx.tenant.id, other.tenant.id} - {asked[0]}
    monkeypatch.setattr(requeues, "replay_page", replay_page)
    await complete(store, incident.id)
    replayed = await query(store, "select tenant_id from instance_live where replay_of is not null")
    assert {row["tenant_id"] for row in replayed} == {ctx.tenant.id, other.tenant.id}


async def complete_until(store, id_, step):
    """Rounds of one executor until it waits at a step, and some more."""
    await move_clock(store, seconds=LEASE_TTL.total_seconds() + 1)
    executor = RecoveryExecutor(store, uuid4())
    for _ in range(20):
        await executor.once()
    assert (await show(store, id_)).incident.step is step


async def test_an_overdue_critical_fire_is_waited_for_and_a_paused_job_is_not(world, store, ctx):
    await a_job(ctx, "critical", priority=Priority.CRITICAL)
    await move_clock(store, minutes=2)
    await hold_shards(store)
    incident = await start(store)
    await RecoveryExecutor(store, uuid4()).once()
    waiting = (await show(store, incident.id)).incident
    assert (waiting.step, waiting.error) == (RecoveryStep.FIRE_CRITICAL, "1 fires are overdue")
    await jobs.pause(ctx, "critical")
    done = await complete(store, incident.id)
    assert done.summary.rto_s is not None


async def test_a_stopped_incident_lifts_what_it_set_and_replays_nothing(world, store, ctx):
    await let_die(ctx, store, "a")
    await query(store, "update shard set owner = null where shard_id < 10")
    incident = await start(store)
    await RecoveryExecutor(store, uuid4()).once()
    await incidents.stop(PlatformContext(store, "operator"), incident.id, "a false alarm")
    done = await complete(store, incident.id)
    assert (done.incident.result, await overrides(store)) == (IncidentResult.STOPPED, [False, False])
    assert not await query(store, REPLAYS)
    with pytest.raises(Conflict):
        await incidents.stop(PlatformContext(store, "operator"), incident.id, "again")


async def test_one_incident_is_open_at_a_time_and_its_fault_is_not_in_the_future(world, store):
    platform = PlatformContext(store, "operator")
    with pytest.raises(Invalid):
        await incidents.start(platform, IncidentGrade.P2, "late", store.clock.now().replace(year=2099))
    await start(store)
    with pytest.raises(Conflict, match="P1"):
        await start(store)
