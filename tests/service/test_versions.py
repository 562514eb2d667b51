from datetime import timedelta

import pytest
from msgspec.structs import replace

from horae.domain.errors import Conflict, Invalid, NotFound
from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Priority
from horae.domain.jobs.jobs import JobFilter, Status
from horae.domain.schedules.triggers import DelayTrigger, KeyedTrigger, cron
from horae.service.jobs import jobs, versions
from horae.service.schedules import schedules
from tests.steps import a_job, a_type, every, move_clock, query


async def test_an_update_for_another_version_than_the_jobs_is_refused_and_changes_nothing(ctx, store):
    job = await a_job(ctx, "a")
    changed = replace(job.definition, trigger=cron("0 * * * *"))
    await schedules.update(ctx, "a", changed, version=1)
    with pytest.raises(Conflict) as refused:
        await schedules.update(ctx, "a", job.definition, version=1)
    assert refused.value.facts == {"version": 2}
    assert (await jobs.find(ctx, "a")).definition == changed


async def test_a_new_priority_reaches_the_cursor(ctx, store):
    job = await a_job(ctx, "a")
    await schedules.update(ctx, "a", replace(job.definition, priority=Priority.CRITICAL))
    [cursor] = await query(store, "select priority from job_cursor")
    assert cursor["priority"] == Priority.CRITICAL


async def test_a_fire_that_is_due_already_is_not_lost_by_a_change(ctx, store):
    job = await a_job(ctx, "a", every(ctx, 60, "a"))
    await move_clock(store, seconds=61)
    changed = await schedules.label(ctx, "a", {"team": "payments"})
    assert changed.next_fire_at == job.next_fire_at
    [cursor] = await query(store, "select next_fire_at, version from job_cursor")
    assert tuple(cursor) == (job.next_fire_at, 2)


async def test_a_job_cannot_become_one_of_another_kind(ctx):
    job = await a_job(ctx, "a")
    kind = await a_type(ctx, "T")
    once = await a_job(ctx, "o", DelayTrigger(60))
    with pytest.raises(Invalid, match="recurring cannot become a type"):
        await schedules.update(ctx, "a", replace(job.definition, trigger=KeyedTrigger()))
    with pytest.raises(Invalid, match="width"):
        await schedules.update(ctx, "T", replace(kind.definition, width=4))
    with pytest.raises(Invalid, match="set as a task"):
        await schedules.update(ctx, "o", replace(once.definition, trigger=DelayTrigger(5)))


async def test_versions_are_listed_newest_first_and_their_differences_told(ctx):
    job = await a_job(ctx, "a", cron("0 * * * *"))
    await schedules.update(ctx, "a", replace(job.definition, trigger=cron("5 * * * *")))
    await schedules.label(ctx, "a", {"team": "payments"})
    job = await jobs.find_by_ref(ctx, public(Prefix.JOB, job.id))
    assert [one.version for one in await versions.listing(ctx, job, limit=2)] == [3, 2]
    assert [one.version for one in await versions.listing(ctx, job, before=2)] == [1]
    told = [one.text for one in await versions.diff(ctx, job, 1, 3)]
    assert told == ['+ labels: {"team":"payments"}', '~ trigger.expression: "0 * * * *" → "5 * * * *"']
    with pytest.raises(NotFound):
        await versions.diff(ctx, job, 1, 4)


async def test_labels_are_set_and_taken_away(ctx):
    await a_job(ctx, "a", labels={"team": "x", "old": "1"})
    changed = await schedules.label(ctx, "a", {"team": "y", "old": None})
    assert changed.definition.labels == {"team": "y"}
    with pytest.raises(Invalid):
        await schedules.label(ctx, "a", {"a=b": "y"})


async def test_a_removed_job_is_found_by_its_id_only_by_those_who_ask_for_it(ctx):
    job = await a_job(ctx, "a")
    await jobs.remove(ctx, "a")
    id_ = public(Prefix.JOB, job.id)
    with pytest.raises(NotFound):
        await jobs.find_by_ref(ctx, id_)
    assert (await jobs.find_by_ref(ctx, id_, removed=True)).status is Status.REMOVED


async def test_pages_of_jobs_come_by_name_over_both_cells_with_filters(ctx):
    for n in range(12):
        await a_job(ctx, f"job-{n:02}", labels={"parity": "even" if n % 2 == 0 else "odd"})
    for name in ("Zebra", "ähre", "other"):
        await a_job(ctx, name)
    await jobs.pause(ctx, "job-03")

    async def names(wanted):
        found, after = [], ""
        while page := await jobs.page(ctx, wanted, after=after, limit=4):
            found += [job.name for job in page]
            after = page[-1].name
        return found

    everything = await names(JobFilter())
    assert everything == sorted(everything)
    assert len(everything) == 15
    assert await names(JobFilter(labels={"parity": "odd"}, prefix="job-0")) == [f"job-0{n}" for n in (1, 3, 5, 7, 9)]
    assert await names(JobFilter(status=Status.PAUSED)) == ["job-03"]
    assert len(await names(JobFilter(with_labels=("parity",)))) == 12


async def test_a_change_goes_on_from_now(ctx, store):
    job = await a_job(ctx, "a", every(ctx, 3600, "a"))
    changed = await schedules.update(ctx, "a", replace(job.definition, trigger=every(ctx, 60, "a")))
    assert changed.next_fire_at - store.cells[0].clock.now() <= timedelta(seconds=61)
