"""Results and lines stay in the cell that wrote them, and are read there after their shard has moved or gone."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from horae.domain.ids import shard_in
from horae.domain.instances.logs import BEGIN, LogBatch, LogLine
from horae.domain.instances.outcomes import Success
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.workers import Finish
from horae.service.context import Context, PlatformContext
from horae.service.instances import logs, results
from horae.service.tasks import tasks
from horae.service.tenants import lifecycle, tenants
from horae.service.workers import workers
from horae.upkeep.copies import Copier
from horae.upkeep.move_steps import MoveCoordinator
from horae.upkeep.purges import Purger
from tests.steps import a_type, query
from tests.upkeep.moving import ask_for_move, other_than

AT = datetime(2026, 11, 18, 8, tzinfo=UTC)


async def claimed(ctx, store, many=1):
    await a_type(ctx, "MAIL", target=QueueTarget("mail", claim_seconds=300))
    await Copier(store).once()
    for number in range(many):
        await tasks.schedule(ctx, "MAIL", str(number))
    return await workers.claim(ctx, "mail", "w")


def batch(one, text, first):
    return LogBatch(one.instance_id, one.attempt, one.token, [LogLine(AT, text)], first)


def finish(one, result):
    return Finish(one.instance_id, one.attempt, one.token, Success(), result=result)


@pytest.fixture
def narrow(store):
    """A tenant whose rows are in one shard."""

    async def make(name):
        return Context.of(store, await tenants.create(PlatformContext(store, "test"), name, width=1), "test")

    return make


async def test_lines_and_results_are_read_after_the_shard_has_moved(store, narrow):
    ctx = await narrow("moving")
    before, running = await claimed(ctx, store, 2)
    shard = shard_in(before.instance_id)
    assert shard_in(running.instance_id) == shard
    source = store.cell(shard)
    await logs.append(ctx, [batch(before, "ended here", 0), batch(running, "logged here", 0)])
    await workers.finish(ctx, [finish(before, "from the source")])
    move = await ask_for_move(source, other_than(store, source), shard)
    await MoveCoordinator(source, other_than(store, source), uuid4()).run(move)
    await store.learn_shards()
    assert store.cell(shard) is not source
    assert await logs.append(ctx, [batch(running, "logged there", 1)]) == ["done"]
    await workers.finish(ctx, [finish(running, "from the target")])
    found = {}
    for one in (before, running):
        page = await logs.read(ctx, one.instance_id, BEGIN, 100)
        found[(await results.find(ctx, one.instance_id)).value] = [line.line.text for line in page.lines]
    assert found == {"from the source": ["ended here"], "from the target": ["logged here", "logged there"]}


async def test_a_removed_tenant_leaves_no_result_and_no_figure_and_another_keeps_its_own(store, narrow):
    gone, stays = await narrow("gone"), await narrow("stays")
    for ctx in (gone, stays):
        [one] = await claimed(ctx, store)
        await logs.append(ctx, [batch(one, "a", 0)])
        await workers.finish(ctx, [finish(one, "result")])
    await lifecycle.remove(gone, gone.tenant.name, confirm=gone.tenant.name)
    await Copier(store).once()
    purger = Purger(store)
    while await purger.once():
        pass
    for table in ("instance_result", "log_usage"):
        rows = await query(store, f"select tenant_id from {table}")
        assert {row["tenant_id"] for row in rows} == {stays.tenant.id}, table
