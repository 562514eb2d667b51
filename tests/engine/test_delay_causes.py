"""Causes of late fires, as a running node shows them: a herd, a slow target, cold definitions, a loop that stalls."""

import gc

from horae.domain.health.delay_causes import DelayCauseKind
from horae.domain.ids import Prefix, public
from horae.engine.strain import CollectionTime, StrainMeter
from horae.service.health.delay_causes import explain_delays
from horae.store.health import delay_causes
from tests.engine.load_scene import HERD, LINES, SLOTS, TAKES_S, under_load
from tests.steps import until

LIMIT_MS = 100


async def causes_of(scene, limit_ms=LIMIT_MS):
    """The causes of this minute, after its signals were written."""
    scene.watch.signaller.take_load = scene.node.load.take
    scene.watch.signaller.take_strains = scene.node.strain.take
    await scene.watch.signaller.once()
    minute = scene.store.clock.now().replace(second=0, microsecond=0)
    found = await explain_delays(scene.store.cells, minute, limit_ms)
    return {cause.kind: cause for cause in found}


async def test_a_herd_is_named_with_its_tenant_and_not_taken_for_a_slow_target(ctx, store, catcher):
    catcher.takes = TAKES_S
    async with under_load(ctx, store, catcher, LINES) as scene:
        await scene.burst(**HERD)
        causes = await causes_of(scene)
        herd = causes[DelayCauseKind.TENANT_HERD]
        assert herd.subject == ctx.tenant.name
        assert herd.figures["fires"] == sum(HERD.values())
        assert herd.figures["times_usual"] == 10, "all runs of ten minutes came in one"
        assert not causes.keys() & {DelayCauseKind.SLOW_TARGET, DelayCauseKind.COLD_DEFINITIONS, DelayCauseKind.CLOCK}


async def test_a_slow_target_is_named_with_its_part_of_the_slots_and_what_waits_by_shard(ctx, store, catcher):
    catcher.answer = lambda _arrival: None
    async with under_load(ctx, store, catcher, LINES) as scene:
        at = store.clock.now().replace(second=30, microsecond=0)
        for name in ("critical", "normal", "low"):
            await scene.plan(name, 20, at)
        await scene.move_to(30)
        await until(lambda: scene.node.admission.slots.load == 1 and len(catcher.hanging) >= SLOTS / 2)
        for _ in range(4):
            await scene.node.once()
        cell = store.cells[0]
        async with cell.tx() as tx:
            waiting = (await delay_causes.read(tx, at.replace(second=0))).waiting
        assert waiting
        assert waiting.keys() <= set(store.shards_of(cell))
        await scene.move_to(32)  # the fires that have no slot are late, however fast this machine is
        catcher.answer = lambda _arrival: 200
        catcher.release()
        await scene.run()
        slow = (await causes_of(scene))[DelayCauseKind.SLOW_TARGET]
        assert slow.subject == catcher.url.removeprefix("http://")
        assert slow.figures["slots_share"] >= 0.5


async def test_a_node_counts_the_definitions_that_it_reads(ctx, store, catcher):
    async with under_load(ctx, store, catcher, LINES) as scene:
        await scene.burst(normal=5)
        strains = scene.node.strain.take()
        assert sum(one.definitions_read for one in strains.values()) >= 1
        assert {one.node for one in strains.values()} == {public(Prefix.NODE, scene.node.identity.incarnation)}
        await scene.judge()
        await scene.burst(normal=5)
        assert sum(one.definitions_read for one in scene.node.strain.take().values()) == 0, "they are known now"


def test_a_loop_that_stands_still_is_added_up_and_short_waits_are_not():
    meter = StrainMeter("n", {}, 0.5)
    for at in (0.0, 0.5, 1.05, 4.55, 5.05):
        meter.sample(at, 0.0)
    assert meter._stalled_s == 3.0


def test_garbage_collections_are_timed_while_it_listens():
    time = CollectionTime()
    time.start()
    gc.collect()
    time.stop()
    assert time.seconds > 0
    before = time.seconds
    gc.collect()
    assert time.seconds == before
