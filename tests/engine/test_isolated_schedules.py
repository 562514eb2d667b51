"""A pause moves every cursor on."""

from datetime import timedelta

from horae.domain.triggers import cron
from horae.service import schedules
from horae.upkeep.partitions import Partitioner
from tests.steps import Looker, a_job, move_clock, query


async def test_a_fire_moved_into_a_pause_of_its_tenant_is_told_and_the_schedule_goes_on(ctx, store):
    job = await a_job(ctx, "hourly", cron("0 * * * *"))
    moved = job.next_fire_at + timedelta(hours=1)
    await schedules.move(ctx, "hourly", moved, moved - timedelta(minutes=50))
    cell = store.cell(job.shard)
    await move_clock(store, seconds=(moved + timedelta(minutes=30) - cell.clock.now()).total_seconds())
    await Partitioner(store).once()
    looker = Looker(store, cell)
    looker.firer.paused_until = lambda _tenant_id: moved - timedelta(minutes=30)
    for _ in range(3):
        await looker.once()
    [told] = await query(cell, "select fire_time, range_to, range_count, reason from instance_history")
    assert tuple(told) == (job.next_fire_at, moved, 2, "PAUSED")
    [cursor] = await query(cell, "select next_fire_at from job_cursor")
    assert cursor["next_fire_at"] == moved + timedelta(hours=1)
