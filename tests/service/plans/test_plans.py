"""Schedules as code against real rows."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from horae.domain.errors import Invalid
from horae.domain.instances.instances import Priority
from horae.domain.jobs.jobs import Definition, Status
from horae.domain.plans.plans import ConflictStep, CreateStep, DeclaredJob, Keep, RefusedStep
from horae.domain.schedules import Policies
from horae.domain.schedules.calendars import CalendarUse
from horae.domain.schedules.triggers import KeyedTrigger, cron
from horae.domain.targets.targets import QueueTarget
from horae.service import plans
from horae.service.jobs import jobs
from horae.service.schedules import schedules
from tests.steps import a_job, move_clock, query

QUEUE = QueueTarget("q")


def declared(name, expression="0 2 * * *", **facts):
    facts = {"trigger": cron(expression), "target": QUEUE} | facts
    marks = {key: facts.pop(key) for key in ("paused", "shadow") if key in facts}
    return DeclaredJob(name=name, definition=Definition(**facts), **marks)


async def apply(ctx, *wanted, owner="billing", **how):
    made = await plans.plan(ctx, owner, wanted, **how)
    done = await plans.apply(ctx, made)
    assert all(one.ok for one in done), done
    return made


async def test_applying_creates_changes_and_prunes_with_an_audit_row_each(ctx, store):
    await a_job(ctx, "by-hand")
    made = await apply(ctx, declared("a"), declared("b"))
    assert made.counts() == {"create": 2}
    assert all(len(line.after) == 3 for line in made.lines), "it says when they would fire"
    assert (await apply(ctx, declared("a"), declared("b"))).counts() == {"keep": 2}
    made = await apply(ctx, declared("a", "30 4 * * *"), prune=True)
    assert made.counts() == {"change": 1, "prune": 1}
    [changed, _] = made.lines
    assert [at.hour for at in changed.before] == [2, 2, 2]
    assert [(at.hour, at.minute) for at in changed.after] == [(4, 30)] * 3
    assert [job.name for job in await jobs.listing(ctx)] == ["a", "by-hand"]
    rows = await query(store, "select action, count(*) from audit_log where actor = 'test' group by action")
    told = {row["action"]: 0 for row in rows}
    for row in rows:
        told[row["action"]] += row["count"]
    told.pop("tenant.created")
    assert told == {"job.created": 3, "job.updated": 1, "job.removed": 1}


async def test_an_edit_since_the_last_apply_is_a_conflict_and_one_after_the_plan_is_refused(ctx):
    await apply(ctx, declared("a"))
    await schedules.label(ctx, "a", {"team": "x"})
    made = await plans.plan(ctx, "billing", [declared("a", priority=Priority.LOW)])
    assert [type(step) for step in made.steps] == [ConflictStep]
    assert [edit.text for edit in made.steps[0].edits] == ['+ labels.team: "x"']
    assert await plans.apply(ctx, made) == []
    made = await plans.plan(ctx, "billing", [declared("a")], force=True)
    await schedules.label(ctx, "a", {"team": "y"})
    [refused] = await plans.apply(ctx, made)
    assert refused.code == "SCH_409_CONFLICT"
    assert (await jobs.find(ctx, "a")).definition.labels["team"] == "y"


async def test_a_job_made_by_hand_or_by_another_source_is_not_taken(ctx):
    await a_job(ctx, "by-hand")
    await apply(ctx, declared("theirs"), owner="someone")
    made = await plans.plan(ctx, "billing", [declared("by-hand"), declared("theirs")])
    assert [type(step) for step in made.steps] == [ConflictStep, RefusedStep]
    with pytest.raises(Invalid):
        await plans.plan(ctx, "", [])


async def test_a_plan_refuses_what_its_making_would_refuse(ctx):
    begin = datetime(2030, 1, 1, 3, tzinfo=UTC)
    never = Policies(start=begin, end=begin + timedelta(hours=2))
    nowhere = Policies(calendars=(CalendarUse("nowhere"),))
    wanted = [declared("a", policies=never), declared("b", policies=nowhere), declared("c", trigger=KeyedTrigger())]
    made = await plans.plan(ctx, "billing", wanted)
    assert [type(step) for step in made.steps] == [RefusedStep, RefusedStep, CreateStep]


async def test_a_job_may_begin_paused_and_a_shadow_fires_nothing_until_it_is_one_no_longer(ctx, store):
    made = await apply(ctx, declared("a", "* * * * *", shadow=True), declared("b", paused=True))
    assert made.counts() == {"create": 2}
    for name in "ab":
        job = await jobs.find(ctx, name)
        assert (job.status, job.next_fire_at) == (Status.PAUSED, None)
    assert await query(store, "select * from job_cursor where next_fire_at is not null") == []
    await move_clock(store, minutes=3)
    await apply(ctx, declared("a", "* * * * *"), declared("b", paused=True))
    a = await jobs.find(ctx, "a")
    assert a.status is Status.ACTIVE
    assert a.next_fire_at is not None
    [passed] = await query(store, "select * from instance_history where state = 'SKIPPED'")
    assert passed["reason"] == "PAUSED"


async def test_a_schedule_changed_while_it_was_paused_goes_on_by_what_it_says_now(ctx):
    await a_job(ctx, "a", cron("0 2 * * *"))
    await jobs.pause(ctx, "a")
    await schedules.update(ctx, "a", Definition(trigger=cron("30 4 * * *"), target=QUEUE))
    resumed = await jobs.resume(ctx, "a")
    assert (resumed.next_fire_at.hour, resumed.next_fire_at.minute) == (4, 30)
    assert (await jobs.find(ctx, "a")).next_fire_at == resumed.next_fire_at


async def test_a_thousand_jobs_are_planned_within_five_seconds_and_applied_twice_without_a_change(ctx):
    wanted = [declared(f"job-{n:04}", f"{n % 60} {n % 24} * * *", labels={"n": str(n)}) for n in range(1000)]
    began = time.monotonic()
    made = await plans.plan(ctx, "billing", wanted)
    planned = time.monotonic() - began
    assert made.counts() == {"create": 1000}
    done = await plans.apply(ctx, made)
    assert all(one.ok for one in done)
    began = time.monotonic()
    again = await plans.plan(ctx, "billing", wanted)
    replanned = time.monotonic() - began
    assert {type(step) for step in again.steps} == {Keep}
    assert await plans.apply(ctx, again) == []
    assert max(planned, replanned) < 5, (planned, replanned)
