"""The looks over the shards that a node holds, where other cells have the numbers between them."""

from datetime import timedelta

from horae.domain.instances.instances import Lane, Priority
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import IntervalTrigger
from horae.engine.territory import Territory
from horae.store.nodes.scans import ScanMark, ScanRange
from tests.bulk import bulk_jobs
from tests.steps import NOWHERE

MARK = ScanMark(Priority.NORMAL, Lane.FIRST)


async def some_cursors(ctx, store, number):
    start = store.cells[0].clock.now()
    await bulk_jobs(ctx, store, number, Definition(trigger=IntervalTrigger(60, start), target=NOWHERE), start)


async def walk(cell, territory, limit):
    """Page after page, until none has more; returns the shards that were seen."""
    found, mark = [], MARK
    while mark is not None:
        async with cell.statement() as tx:
            page = await territory.cursors(tx, ScanRange(tx.now + timedelta(seconds=60), limit=limit), [mark])
        found += [timer.shard for timer in page.timers]
        last = page.more.get((mark.priority, mark.lane))
        mark = None if last is None else mark.at_timer(last)
    return found


async def test_a_node_that_holds_a_cell_asks_for_one_run_though_others_have_the_numbers_between(store):
    for cell in store.cells:
        here = store.shards_of(cell)
        assert Territory(here, here).runs == [(here[0], here[-1])]
        half = here[len(here) // 2 :]
        assert Territory(half, here).runs == [(half[0], half[-1])]


async def test_a_look_returns_nothing_of_a_shard_that_is_not_held_and_passes_over_it(ctx, store):
    """As a shard that moved to another cell may have left rows here."""
    await some_cursors(ctx, store, 200)
    cell, here = store.cells[0], store.shards_of(store.cells[0])
    seen = await walk(cell, Territory(here, here), 1000)
    gone = set(sorted(seen)[::2])
    left = [shard for shard in here if shard not in gone]
    territory = Territory(left, left)
    assert territory.runs == [(left[0], left[-1])]
    assert sorted(await walk(cell, territory, 1000)) == sorted(shard for shard in seen if shard not in gone)
    assert sorted(await walk(cell, territory, 3)) == sorted(shard for shard in seen if shard not in gone)
