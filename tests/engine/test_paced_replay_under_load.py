"""A paced replay beside live work: a running node, real calls, real seconds. Live work stays on time."""

import asyncio
from datetime import timedelta

import pytest
from benchmarks.api_server import id_of_shard

from horae.domain.instances.dead_letters import DeadLetterFilter
from horae.domain.instances.instances import Lane
from horae.domain.instances.retries import RetryPolicy
from horae.domain.measures.in_force import NO_MEASURES
from horae.domain.targets.targets import HttpTarget
from horae.runtime.loop import Loop
from horae.service.instances import paced_replays
from horae.service.tasks.batches import TaskIntent, schedule_many
from horae.upkeep.copies import Copier
from horae.upkeep.dead_letter_triage import PacedReplayer
from tests.catcher import percentile
from tests.engine.load_scene import batched
from tests.engine.running import running
from tests.steps import a_type, query, until

LIVE_A_SECOND = 40
MAX_P95_MS = 250
ENDED = "select state, lane, trigger_delay_ms from instance_history where job_id = $1"


async def put(ctx, name, wishes):
    for batch in batched(wishes, 1000):
        answers = await schedule_many(ctx, name, batch)
        assert not any(isinstance(answer, Exception) for answer in answers)


@pytest.mark.parametrize(
    ("many", "pace", "bound_ms"), [(150, 100, None), pytest.param(5000, 100, MAX_P95_MS, marks=pytest.mark.long)]
)
@pytest.mark.timeout(400)
async def test_a_paced_replay_by_tag_leaves_live_work_on_time(
    ctx, store, catcher, many, pace, bound_ms, record_property
):
    catcher.answer = lambda arrival: 503 if arrival.path == "/broken" else 200
    names = {"broken": {"retry": RetryPolicy(max_failures=1)}, "live": {}}
    types = {
        name: await a_type(ctx, name, target=HttpTarget(f"{catcher.url}/{name}"), **facts)
        for name, facts in names.items()
    }
    await Copier(store).once()
    async with running(store, ttl=timedelta(minutes=5), slots=50):
        now = store.clock.now()
        await query(
            store,
            f"""insert into dead_letter (shard_id, instance_id, tenant_id, job_id, job_version, fire_time, created_at,
                                        idem_key, error_code, error_msg, tag)
               select s.shard, {id_of_shard("s.shard")}, $1, $2, 1, $3, $3, 'b' || s.shard || '-' || n, 'HTTP_5XX',
                      'answered 503', 'transient_error'
               from (select shard_id::int as shard from shard where state = 'ACTIVE' order by 1 limit 10) s,
                    generate_series(1, $4::int) n""",
            ctx.tenant.id,
            types["broken"].id,
            now,
            many // (10 * len(store.cells)),
        )
        catcher.answer = lambda _arrival: 200  # it was repaired
        total = many // (10 * len(store.cells)) * 10 * len(store.cells)
        seconds = total // pace + 3
        begin = store.clock.now() + timedelta(seconds=1)
        await put(
            ctx,
            "live",
            [
                TaskIntent(f"live-{n}", begin + timedelta(seconds=n / LIVE_A_SECOND))
                for n in range(seconds * LIVE_A_SECOND)
            ],
        )
        made = await paced_replays.start(ctx, DeadLetterFilter(tag="transient_error"), limit=5000, pace=pace, canary=10)
        loop = asyncio.create_task(Loop("pacedreplayer", PacedReplayer(store, lambda _cell: NO_MEASURES), 0.2).run())

        async def is_done():
            return (await paced_replays.show(ctx, made.id)).ended_at is not None

        try:
            took_s = await until(is_done, 300)
            await until(lambda: _ended(store, types["live"], seconds * LIVE_A_SECOND), 120)
        finally:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
        done = await paced_replays.show(ctx, made.id)
        replayed = await query(store, ENDED, types["broken"].id)
        live = await query(store, ENDED, types["live"].id)
    assert (done.status, done.progress.succeeded, done.progress.failed) == ("COMPLETED", total, 0)
    assert {(row["state"], row["lane"]) for row in replayed} == {("SUCCESS", Lane.BACKFILL)}
    assert len(replayed) == total, "each was sent once"
    assert {row["state"] for row in live} == {"SUCCESS"}
    p95_ms = percentile([row["trigger_delay_ms"] for row in live], 0.95)
    for name, value in {"replayed": total, "live": len(live), "took_s": round(took_s), "live_p95_ms": p95_ms}.items():
        record_property(name, value)
    assert bound_ms is None or p95_ms <= bound_ms


async def _ended(store, type_, many):
    return len(await query(store, ENDED, type_.id)) == many
