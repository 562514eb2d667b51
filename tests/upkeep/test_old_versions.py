"""Versions that were replaced long ago go, unless they are among a job's last or something refers to them."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.service.jobs import jobs
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.upkeep import old_versions
from horae.upkeep.copies import Copier
from horae.upkeep.old_versions import LAST_VERSIONS_KEPT, VersionForgetter
from horae.upkeep.partitions import Partitioner
from tests.steps import a_job, a_type, claim_everywhere, move_clock, query, settle

KEPT = timedelta(days=90)
MORE = 5
"""Versions of a job beyond those that always stay."""


async def revise(ctx, name, many=LAST_VERSIONS_KEPT + MORE - 1):
    """Change a job `many` times."""
    for number in range(many):
        job = await jobs.find(ctx, name)
        await schedules.update(ctx, name, replace(job.definition, labels={"number": str(number)}))


async def pass_the_term(store):
    await move_clock(store, days=KEPT.days + 1)
    await Partitioner(store).once()


async def forget_all(store):
    forgetter, rounds = VersionForgetter(store, KEPT), 1
    while await forgetter.once():
        rounds += 1
    return rounds


async def versions_of(store, name):
    rows = await query(store, "select version from job_version where name = $1 order by version", name)
    return [row["version"] for row in rows]


LAST = list(range(MORE + 1, MORE + LAST_VERSIONS_KEPT + 1))
ALL = list(range(1, MORE + LAST_VERSIONS_KEPT + 1))


async def test_versions_that_were_replaced_long_ago_go_and_the_last_ones_stay(ctx, store):
    await a_job(ctx, "old")
    await revise(ctx, "old")
    await pass_the_term(store)
    await a_job(ctx, "young")
    await revise(ctx, "young")
    await forget_all(store)
    assert await versions_of(store, "old") == LAST
    assert await versions_of(store, "young") == ALL
    assert (await jobs.find(ctx, "old")).version == LAST[-1]


async def test_a_version_that_was_replaced_lately_stays_however_old_it_is(ctx, store):
    await a_job(ctx, "job")
    await pass_the_term(store)
    await revise(ctx, "job")
    await forget_all(store)
    assert await versions_of(store, "job") == ALL


async def test_a_task_in_another_cell_keeps_the_version_that_it_was_made_with(ctx, store):
    await a_type(ctx, "TYPE")
    await Copier(store).once()
    home = store.cell(ctx.tenant.shard("TYPE"))
    far_off = home.clock.now() + timedelta(days=3 * KEPT.days)
    number = 0
    while not await query(next(cell for cell in store.cells if cell is not home), "select from instance_live"):
        await tasks.schedule(ctx, "TYPE", f"key-{number}", at=far_off)
        number += 1
    await query(home, "delete from instance_live")
    await revise(ctx, "TYPE")
    await pass_the_term(store)
    await forget_all(store)
    assert await versions_of(store, "TYPE") == [1, *LAST]


@pytest.mark.parametrize(("outcome", "stays"), [(Success(), False), (Unrecoverable(ErrorCode.HTTP_4XX, "no"), True)])
async def test_a_dead_letter_keeps_its_version_and_history_does_not(ctx, store, outcome, stays):
    await a_type(ctx, "TYPE")
    await Copier(store).once()
    await tasks.schedule(ctx, "TYPE", "key")
    for ran in await claim_everywhere(store):
        await settle(store, ran, outcome)
    await revise(ctx, "TYPE")
    await pass_the_term(store)
    await forget_all(store)
    assert await versions_of(store, "TYPE") == ([1, *LAST] if stays else LAST)


async def test_a_walk_goes_over_many_versions_page_by_page(ctx, store, monkeypatch):
    monkeypatch.setattr(old_versions, "PAGE", 7)
    monkeypatch.setattr(old_versions, "PAGES", 1)
    for name in ("one", "two", "three"):
        await a_job(ctx, name)
        await revise(ctx, name)
    await pass_the_term(store)
    assert await forget_all(store) > 3
    for name in ("one", "two", "three"):
        assert await versions_of(store, name) == LAST
