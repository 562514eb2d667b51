"""New time zone rules reach every cursor within a minute of the start of a node that knows them (R-04)."""

import time
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import cron
from horae.domain.targets.targets import HttpTarget
from horae.domain.zones.zones import tzdata_version
from horae.engine import zone_rules
from horae.engine.territory import Territory
from horae.engine.zone_rules import ZoneReplanner
from horae.store.schedules import zone_rules as rows
from tests.bulk import bulk_jobs
from tests.engine.running import ended, hurry, running
from tests.steps import NOWHERE, a_job, amid, every, query, until
from tests.zone_releases import another_release

LONG = (pytest.mark.long, pytest.mark.timeout(600))
MOST_S = 60
SOONER, LATER = {"Europe/Berlin": "Etc/GMT-5"}, {"Europe/Berlin": "Etc/GMT+9"}
"""Berlin decides for UTC+5, or for UTC-9, all year."""
CURSORS = "select j.name, c.next_fire_at from job_cursor c join job j on (j.shard_id, j.id) = (c.shard_id, c.job_id)"
RELEASES = "select name, definition #>> '{trigger,tzdata}' as release, xmin::text as written from job"


@pytest.fixture(autouse=True)
async def between_two_fires(store):
    await amid(store, 600)


def next_nine(now, ahead):
    """The next 09:00 of a place that is always so many hours ahead of UTC, by plain arithmetic."""
    local = now + timedelta(hours=ahead)
    nine = local.replace(hour=9, minute=0, second=0, microsecond=0)
    return (nine if nine > local else nine + timedelta(days=1)) - timedelta(hours=ahead)


async def cursors_of(store):
    return {row["name"]: row["next_fire_at"] for row in await query(store, CURSORS)}


async def replan(store, follow=lambda _: None):
    """Everything that a node would do over all shards; returns how many cursors moved."""
    moved = 0
    for cell in store.cells:
        here = store.shards_of(cell)
        duty = ZoneReplanner(cell, Territory(here), follow)
        duty.look_at(here, here)
        with capture_logs() as logs:
            while await duty.once():
                pass
        moved += sum(line["count"] for line in logs if line["event"] == "zone_rules.cursors_moved")
    return moved


async def test_a_job_fires_by_the_new_rules_and_not_by_the_old_ones(ctx, store, catcher, tmp_path):
    berlin = await a_job(ctx, "b", cron("0 9 * * *", zone_name="Europe/Berlin"), target=HttpTarget(catcher.url))
    now = store.cell(berlin.shard).clock.now()
    with another_release(tmp_path, "2031a", SOONER):
        expected = next_nine(now, 5)
        async with running(store) as node:

            async def stands_there():
                return await cursors_of(store) == {"b": expected}

            await until(stands_there)
            await hurry(store, node, seconds=(expected - now).total_seconds() + 1)
            await until(lambda: ended(store, 1))
        fired = await query(store, "select fire_time from instance_history")
        assert [row["fire_time"] for row in fired] == [expected]
        assert await cursors_of(store) == {"b": expected + timedelta(days=1)}


@pytest.mark.parametrize(("rules", "ahead"), [(SOONER, 5), (LATER, -9)])
async def test_new_rules_move_the_cursors_of_their_zones_and_no_others(ctx, store, tmp_path, rules, ahead):
    for number in range(12):
        await a_job(ctx, f"berlin-{number}", cron("0 9 * * *", zone_name="Europe/Berlin"))
    for name, trigger in {
        "shanghai": cron("0 9 * * *", zone_name="Asia/Shanghai"),
        "utc": cron("0 9 * * *"),
        "minutes": cron("*/10 * * * *", zone_name="Europe/Berlin"),
        "interval": every(ctx, 3600, "interval"),
    }.items():
        await a_job(ctx, name, trigger)
    before = await cursors_of(store)
    with another_release(tmp_path, "2031b", rules):
        assert await replan(store) == 12
        after = await cursors_of(store)
        expected = next_nine(store.cells[0].clock.now(), ahead)
        assert {at for name, at in after.items() if name.startswith("berlin")} == {expected}
        assert {name: at for name, at in after.items() if not name.startswith("berlin")} == {
            name: at for name, at in before.items() if not name.startswith("berlin")
        }
        releases = {row["name"]: row["release"] for row in await query(store, RELEASES)}
    assert {name for name, release in releases.items() if release == "2031b"} == {
        *(f"berlin-{number}" for number in range(12)),
        *("shanghai", "minutes"),
    }


async def test_the_next_owner_with_the_same_rules_reads_and_writes_nothing(ctx, store, tmp_path):
    for number in range(6):
        await a_job(ctx, f"b-{number}", cron("0 9 * * *", zone_name="Europe/Berlin"))
    with another_release(tmp_path, "2031c", SOONER):
        assert await replan(store) == 6
        before = await query(store, RELEASES)
        assert await replan(store) == 0
        assert await query(store, RELEASES) == before


async def test_while_releases_run_beside_each_other_a_shard_follows_the_rules_of_its_owner(ctx, store, tmp_path):
    await a_job(ctx, "b", cron("0 9 * * *", zone_name="Europe/Berlin"))
    old = await cursors_of(store)
    for _ in range(2):
        with another_release(tmp_path / "again", "2031d", SOONER):
            assert await replan(store) == 1
            assert await cursors_of(store) != old
        assert await replan(store) == 1
        assert await cursors_of(store) == old
    assert {row["release"] for row in await query(store, RELEASES)} == {tzdata_version()}


async def test_a_fire_that_is_due_when_the_rules_change_is_still_owed(ctx, store, tmp_path):
    await a_job(ctx, "b", cron("0 9 * * *", zone_name="Europe/Berlin"))
    due = store.cells[0].clock.now() - timedelta(minutes=5)
    await query(store, "update job_cursor set next_fire_at = $1", due)
    with another_release(tmp_path, "2031e", SOONER):
        assert await replan(store) == 0
        assert await cursors_of(store) == {"b": due}


async def test_a_job_that_is_changed_between_the_read_and_the_write_is_read_again(ctx, store, tmp_path, monkeypatch):
    job = await a_job(ctx, "b", cron("0 9 * * *", zone_name="Europe/Berlin"))
    cell = store.cell(job.shard)
    followed = []
    move = rows.move

    async def overtaken(*args):
        monkeypatch.setattr(rows, "move", move)
        return set()

    with another_release(tmp_path, "2031f", SOONER):
        duty = ZoneReplanner(cell, Territory([job.shard]), followed.append)
        duty.look_at([job.shard], [job.shard])
        monkeypatch.setattr(rows, "move", overtaken)
        assert await duty.once() == 0
        assert {row["release"] for row in await query(store, RELEASES)} != {"2031f"}
        assert await duty.once() == 1
        assert await duty.once() == 0
        [timer] = followed
        assert (timer.id, timer.at) == (job.id, next_nine(cell.clock.now(), 5))


async def test_a_job_whose_zone_is_gone_stays_and_stops_nobody_else(ctx, store, tmp_path):
    await a_job(ctx, "rome", cron("0 9 * * *", zone_name="Europe/Rome"))
    await a_job(ctx, "b", cron("0 9 * * *", zone_name="Europe/Berlin"))
    before = await cursors_of(store)
    with another_release(tmp_path, "2031g", SOONER):  # Rome is not in it
        assert await replan(store) == 1
        after = await cursors_of(store)
    assert after["rome"] == before["rome"]
    assert after["b"] != before["b"]


async def test_a_statement_reads_one_page_however_many_jobs_there_are(ctx, store, tmp_path, monkeypatch):
    monkeypatch.setattr(zone_rules, "JOBS_PER_PAGE", 50)
    jobs, pages = 400, []
    made = Definition(trigger=cron("0 9 * * *", zone_name="Europe/Berlin"), target=NOWHERE)
    await bulk_jobs(ctx, store, jobs, made, store.cells[0].clock.now() + timedelta(days=2))
    read = rows.page

    async def counted(*args):
        pages.append(await read(*args))
        return pages[-1]

    monkeypatch.setattr(rows, "page", counted)
    with another_release(tmp_path, "2031h", SOONER):
        assert await replan(store) == jobs
    assert max(len(page.outdated) for page in pages) == 50
    runs = sum(len(Territory(here := store.shards_of(cell), here).runs) for cell in store.cells)
    assert len(pages) <= jobs / 50 + runs


@pytest.mark.parametrize("jobs", [pytest.param(100_000, marks=LONG)])
async def test_a_node_that_starts_with_new_rules_moves_every_cursor_within_a_minute(ctx, store, tmp_path, jobs):
    made = Definition(trigger=cron("0 9 * * *", zone_name="Europe/Berlin"), target=NOWHERE)
    stood = store.cells[0].clock.now() + timedelta(days=3)
    for portion in range(10):
        await bulk_jobs(ctx, store, jobs // 10, made, stood, f"bulk-{portion}")
    with another_release(tmp_path, "2031i", SOONER):
        began = time.monotonic()
        async with running(store):

            async def all_moved():
                left = await query(store, "select count(*) as many from job_cursor where next_fire_at = $1", stood)
                return sum(row["many"] for row in left) == 0

            await until(all_moved, 10 * MOST_S)
            took = time.monotonic() - began
    assert took < MOST_S
