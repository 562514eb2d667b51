"""A backfill of many jobs: one part for each, once per key, with one progress and one switch; and its dry run."""

from datetime import timedelta

import pytest

from horae.domain.errors import Invalid, NotFound
from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import Success
from horae.domain.jobs.jobs import JobFilter
from horae.domain.limits.limits import Limit
from horae.domain.schedules.backfill_progress import MAX_CREATED_PER_S, PaceBound
from horae.domain.schedules.backfills import BackfillMode
from horae.domain.schedules.triggers import KeyedTrigger
from horae.domain.targets.targets import HttpTarget
from horae.runtime.randomness import new_token
from horae.service.context import PlatformContext
from horae.service.jobs import jobs
from horae.service.schedules import backfill_groups, backfill_plans, backfills
from horae.service.schedules.backfills import BackfillRequest
from horae.service.tenants import tenants
from horae.store.nodes import leases
from tests.service.test_backfills import past, walked
from tests.steps import a_job, claim_everywhere, every, query, settle

WANTED = JobFilter(labels={"team": "coupons"})
NODES = 2


async def labelled(ctx, store, number=3):
    """So many jobs with the label, one without, and an hour of their past."""
    first, asked = await past(ctx, store, name="c0", labels={"team": "coupons"})
    for n in range(1, number):
        await a_job(ctx, f"c{n}", every(ctx, 60, f"c{n}"), labels={"team": "coupons"})
    await a_job(ctx, "other", every(ctx, 60, "other"))
    return first, BackfillRequest(asked.until - timedelta(hours=1), asked.until - timedelta(minutes=5))


async def test_each_job_with_the_label_has_a_part_and_the_same_key_begins_no_second(ctx, store):
    _, asked = await labelled(ctx, store)
    await a_job(ctx, "typed", KeyedTrigger(), labels={"team": "coupons"})
    begun = await backfill_groups.start(ctx, "k", WANTED, asked)
    assert [item.job.name for item in begun.items if item.backfill] == ["c0", "c1", "c2"]
    [refused] = [item for item in begun.items if item.refusal]
    assert (refused.job.name, refused.refusal.code) == ("typed", "SCH_409_CONFLICT")
    again = await backfill_groups.start(ctx, "k", WANTED, asked)
    assert again.id == begun.id
    assert [item.backfill.id for item in again.items if item.backfill] == [
        item.backfill.id for item in begun.items if item.backfill
    ]
    assert len(await query(store, "select id from backfill")) == 3


async def test_a_group_is_paused_resumed_and_shown_as_a_whole_and_ends(ctx, store):
    _, asked = await labelled(ctx, store)
    begun = await backfill_groups.start(ctx, "k", WANTED, asked)
    paused = await backfill_groups.pause(ctx, begun.id)
    assert (paused.status, {part.backfill.status for part in paused.parts}) == ("PAUSED", {"PAUSED"})
    await walked(store)
    assert await query(store, "select id from instance_live") == []
    assert (await backfill_groups.resume(ctx, begun.id)).status == "RUNNING"
    await walked(store)
    planned = sum(item.backfill.planned for item in begun.items)
    rows = await query(store, "select job_id, fire_time from instance_live where lane = 2")
    assert len(rows) == len({(row["job_id"], row["fire_time"]) for row in rows}) == planned
    while ran := await claim_everywhere(store, lane=Lane.BACKFILL):
        for one in ran:
            await settle(store, one, Success())
    shown = await backfill_groups.show(ctx, begun.id)
    assert (shown.status, shown.progress.done, shown.progress.total, shown.progress.left_s) == (
        "DONE",
        planned,
        planned,
        0.0,
    )


async def test_a_part_that_has_ended_does_not_keep_the_others_from_a_cancel(ctx, store):
    _, asked = await labelled(ctx, store)
    begun = await backfill_groups.start(ctx, "k", WANTED, asked)
    await backfills.cancel(ctx, begun.items[0].backfill.id)
    cancelled = await backfill_groups.cancel(ctx, begun.id)
    assert {part.backfill.status for part in cancelled.parts} == {"CANCELLED"}


async def test_the_rate_of_a_group_is_that_of_all_its_parts_together(ctx, store):
    _, asked = await labelled(ctx, store)
    asked = BackfillRequest(asked.since, asked.until, rate=6.0)
    begun = await backfill_groups.start(ctx, "k", WANTED, asked)
    assert [item.backfill.rate for item in begun.items] == [2.0, 2.0, 2.0]


async def test_no_job_all_jobs_and_too_many_jobs_are_refused(ctx, store, monkeypatch):
    _, asked = await labelled(ctx, store)
    with pytest.raises(Invalid, match="no job matches"):
        await backfill_groups.start(ctx, "k", JobFilter(labels={"team": "nobody"}), asked)
    with pytest.raises(Invalid, match="say which jobs"):
        await backfill_groups.start(ctx, "k", JobFilter(), asked)
    monkeypatch.setattr(backfill_groups, "MOST_JOBS", 2)
    with pytest.raises(Invalid, match="more than 2"):
        await backfill_groups.start(ctx, "k", WANTED, asked)


async def test_another_tenant_finds_no_group(ctx, store):
    _, asked = await labelled(ctx, store)
    begun = await backfill_groups.start(ctx, "k", WANTED, asked)
    other = ctx._replace(tenant=await tenants.create(PlatformContext(store, "test"), "other", width=4096))
    for verb in (backfill_groups.show, backfill_groups.pause, backfill_groups.cancel):
        with pytest.raises(NotFound):
            await verb(other, begun.id)


# The dry run.


async def alive(store):
    """Two living nodes."""
    for _ in range(NODES):
        who = new_token()
        for cell in store.cells:
            async with cell.tx() as tx:
                await leases.heartbeat(tx, who, "n", timedelta(hours=9))


async def test_a_dry_run_counts_and_names_the_lowest_bound_and_changes_nothing(ctx, store):
    target = HttpTarget("https://example.com/", max_concurrency=4, rate=50.0)
    _, asked = await past(ctx, store, target=target)
    await alive(store)
    plan = await backfill_plans.plan(ctx, "a", asked)
    assert (plan.planned, plan.needed, plan.nodes) == (60, 60, NODES)
    bounds = {(one.bound, one.name): one.calls_per_s for one in plan.forecast.bounds}
    assert bounds == {
        (PaceBound.LIMIT_CONCURRENCY, "target"): pytest.approx(40.0),
        (PaceBound.LIMIT_RATE, "target"): 50.0,
        (PaceBound.CREATION, None): MAX_CREATED_PER_S,
        (PaceBound.LANE_SLOTS, None): pytest.approx(NODES * ctx.memory.backfill_slots / 0.1),
    }
    assert plan.forecast.limited_by == PaceBound.LIMIT_CONCURRENCY
    assert plan.forecast.duration_s == pytest.approx(1.5)
    assert plan.forecast.slots == pytest.approx(4.0)
    slower = await backfill_plans.plan(ctx, "a", BackfillRequest(asked.since, asked.until, rate=0.5))
    assert (slower.forecast.limited_by, slower.forecast.duration_s) == (PaceBound.RATE, 120.0)
    assert await query(store, "select id from backfill") == []


async def test_a_dry_run_knows_what_succeeded_and_how_long_calls_take(ctx, store):
    _, asked = await past(ctx, store)
    await alive(store)
    await backfills.start(ctx, "a", "k", asked)
    await walked(store)
    for ran in (await claim_everywhere(store, lane=Lane.BACKFILL))[:20]:
        await settle(store, ran, Success())
    await query(store, "update instance_history set duration_ms = 500 where lane = 2")
    plan = await backfill_plans.plan(ctx, "a", asked)
    assert (plan.needed, plan.past.succeeded, plan.forecast.call_s) == (40, 20, 0.5)
    again = await backfill_plans.plan(ctx, "a", BackfillRequest(asked.since, asked.until, mode=BackfillMode.ALL))
    assert again.needed == 60


async def test_limits_of_tenant_job_and_quota_bound_a_dry_run(ctx, store):
    _, asked = await past(ctx, store, limit=Limit(rate=3.0))
    await alive(store)
    plan = await backfill_plans.plan(ctx, "a", asked)
    assert plan.forecast.limited_by == PaceBound.LIMIT_RATE
    assert plan.forecast.bounds[0].name == "job"


async def test_without_a_living_node_a_dry_run_has_no_end(ctx, store):
    _, asked = await past(ctx, store, target=HttpTarget("https://example.com/"))
    plan = await backfill_plans.plan(ctx, "a", asked)
    assert (plan.nodes, plan.forecast.duration_s, plan.forecast.limited_by) == (0, None, PaceBound.LANE_SLOTS)


async def test_a_dry_run_refuses_what_a_backfill_would(ctx, store):
    _, asked = await past(ctx, store)
    with pytest.raises(Invalid, match="cap"):
        await backfill_plans.plan(ctx, "a", BackfillRequest(asked.since, asked.until, cap=3))
    await jobs.remove(ctx, "a")
    with pytest.raises(NotFound):
        await backfill_plans.plan(ctx, "a", asked)
