"""F10: jobs that are paused, and tenants that are gone, cost nothing at the claims and looks of others.

Work is counted, not timed: the values that a claim sends and gets, and the rows of jobs that PostgreSQL reads for it.
"""

from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from horae.domain.instances.instances import Lane, Priority
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import KeyedTrigger
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.engine.admission.target import DueCall, Target
from horae.engine.agenda import Agenda
from horae.engine.claim import Claimer
from horae.engine.held_tenants import Tenancies
from horae.engine.territory import Territory
from horae.runtime.randomness import new_token
from horae.service.context import Context, PlatformContext
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.service.tenants import lifecycle, tenants
from horae.service.workers import workers
from horae.store.nodes.scans import ScanMark, ScanRange
from horae.store.tx import Tx
from horae.upkeep.copies import Copier
from horae.upkeep.purges import Purger
from tests.engine.running import running
from tests.steps import a_type, move_clock, query, until

MANY = 100_000
AT_ONCE = 20_000
BATCH = 40
PAUSED = """
    insert into job (shard_id, id, tenant_id, name, status, definition, created_at, changed_at)
    select $1, gen_random_uuid(), $2, 'paused-' || n, 'PAUSED', $3, $4, $4
    from generate_series($5::int, $6::int) n"""
ROWS_READ = """
    select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int as many
    from pg_stat_xact_user_tables where relname in ('job', 'reference')"""


class OneTransaction:
    """A cell whose every statement is of one transaction: what they read together can be asked there."""

    def __init__(self, cell, tx):
        self.tx, self.clock, self.signal_counts = tx, cell.clock, cell.signal_counts

    @asynccontextmanager
    async def statement(self):
        yield self.tx


@pytest.fixture
def values(monkeypatch):
    """How many values statements have sent and got, each element of an array and each row counted."""
    counted = {"many": 0}
    ask = Tx.rows

    async def rows(self, statement, *args):
        found = await ask(self, statement, *args)
        counted["many"] += sum(len(arg) for arg in args if isinstance(arg, list | tuple)) + len(found)
        return found

    monkeypatch.setattr(Tx, "rows", rows)
    return counted


async def pause_many(store, tenant):
    """So many paused jobs in the first cell."""
    cell = store.cells[0]
    made = Definition(trigger=KeyedTrigger(), target=HttpTarget("http://127.0.0.1:9/"))
    shard, now = store.shards_of(cell)[0], cell.clock.now()
    for first in range(0, MANY, AT_ONCE):
        await query(cell, PAUSED, shard, tenant.id, made, now, first + 1, first + AT_ONCE)


async def test_f10_a_claim_beside_100_000_paused_jobs_asks_about_its_own_jobs_only(ctx, store, values):
    type_ = await a_type(ctx, "T")
    await Copier(store).once()
    for n in range(3 * BATCH):
        await tasks.schedule(ctx, "T", str(n))
    await pause_many(store, await tenants.create(PlatformContext(store, "test"), "globex", width=1))
    cell = store.cells[0]
    async with cell.tx() as tx:
        page = await Territory(store.shards_of(cell)).instances(
            tx, ScanRange(tx.now, limit=BATCH), [ScanMark(Priority.NORMAL, Lane.FIRST)]
        )
        readies = [DueCall(timer, type_, None, Target()) for timer in page.timers]
        assert len(readies) == BATCH
        [before] = await tx.rows(ROWS_READ)
        values["many"] = 0
        claimed = await Claimer(OneTransaction(cell, tx), new_token(), lambda *_: None).claim(readies)
        sent_and_got = values["many"]
        [after] = await tx.rows(ROWS_READ)
    assert len(claimed) == BATCH
    assert sent_and_got < 10 * BATCH
    assert after["many"] - before["many"] < 10 * BATCH


async def test_f10_a_worker_beside_100_000_paused_jobs_of_its_tenant_gets_its_work_as_before(ctx, store, values):
    await a_type(ctx, "T", target=QueueTarget("q"))
    await Copier(store).once()
    for n in range(BATCH):
        await tasks.schedule(ctx, "T", str(n))
    await pause_many(store, ctx.tenant)
    values["many"] = 0
    assert len(await workers.claim(ctx, "q", "w", BATCH)) == BATCH
    assert values["many"] < 20 * BATCH


async def test_f10_what_was_left_because_its_job_was_paused_goes_soon_after_the_resume(ctx, store, catcher):
    """Due for longer than a look behind the marks reaches back, on a node that has nothing else to claim."""
    await a_type(ctx, "T", target=HttpTarget(catcher.url))
    await Copier(store).once()
    await jobs.pause(ctx, "T")
    await Copier(store).once()
    for n in range(BATCH):
        await tasks.schedule(ctx, "T", str(n))
    await move_clock(store, minutes=5)
    async with running(store, ttl=timedelta(seconds=8)) as node:

        def met():
            return sum(len(post.claimer._paused) for post in node.runners.values()) == len(store.cells)

        await until(met)
        assert catcher.arrivals == []
        await jobs.resume(ctx, "T")
        await Copier(store).once()
        await until(lambda: len(catcher.arrivals) == BATCH)


async def test_f10_a_tenant_that_was_purged_is_not_read_at_every_look_any_more(store):
    for n in range(3):
        tenant = await tenants.create(PlatformContext(store, "test"), f"gone-{n}", width=1)
        await a_type(Context.of(store, tenant, "test"), "T")
        await lifecycle.remove(PlatformContext(store, "test"), tenant.name, confirm=tenant.name)
    await Copier(store).once()
    purger = Purger(store)
    while await purger.once():
        pass
    await Copier(store).once()
    for cell in store.cells:
        known = Tenancies(cell, Agenda(cell.clock.now), lambda: None)
        await known.once()
        assert known.held == frozenset()
        [said] = await query(cell, "select count(*) as many from reference where kind = 'tenant' and body ? 'held'")
        assert said["many"] == 0
