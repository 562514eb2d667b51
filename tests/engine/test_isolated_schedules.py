"""A schedule that cannot be walked keeps no other waiting, and a pause moves every cursor on."""

from datetime import timedelta

from horae.domain.schedules import Misfire, OnMisfire, Policies
from horae.domain.schedules.triggers import IntervalTrigger, cron
from horae.engine import fire
from horae.service.schedules import schedules
from horae.upkeep.partitions import Partitioner
from tests.steps import Looker, a_job, move_clock, query

HOURS_BEHIND = 3


def refuse_steps_of(monkeypatch, job):
    """Make the arithmetic of one schedule fail, as a date out of range does."""
    advance = fire.advance

    def fail(schedule, *args, **kwargs):
        if schedule.key == str(job.id):
            raise OverflowError("date value out of range")
        return advance(schedule, *args, **kwargs)

    monkeypatch.setattr(fire, "advance", fail)


async def names_in_one_cell(ctx, store, many):
    cell = store.cell(ctx.tenant.shard("bad"))
    return cell, [f"j{n}" for n in range(99) if store.cell(ctx.tenant.shard(f"j{n}")) is cell][:many]


async def test_a_schedule_whose_arithmetic_fails_spoils_no_catch_up_of_others(ctx, store, monkeypatch):
    start = store.cells[0].clock.now().replace(microsecond=0)
    policies = Policies(misfire=Misfire(OnMisfire.ALL, cap=3))
    bad = await a_job(ctx, "bad", IntervalTrigger(60, start), policies=policies)
    cell, names = await names_in_one_cell(ctx, store, 3)
    for name in names:
        await a_job(ctx, name, IntervalTrigger(60, start), policies=policies)
    refuse_steps_of(monkeypatch, bad)
    await move_clock(store, hours=HOURS_BEHIND)
    looker = Looker(store, cell)
    await looker.once()
    told = await query(cell, "select job_id, count(*) as many from instance_live group by job_id")
    assert len(told) == len(names)
    [cursor] = await query(cell, "select next_fire_at from job_cursor where job_id = $1", bad.id)
    assert cursor["next_fire_at"] == bad.next_fire_at, "it waits where it stands"
    assert looker.firer.unread == 1


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
