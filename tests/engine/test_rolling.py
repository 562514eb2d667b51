"""Rolling sets: each subject once in its window, the oldest first, spread over the tick, whoever is killed."""

import asyncio
from bisect import bisect_left
from collections import Counter, deque
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from horae.domain.errors import Conflict
from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.domain.instances.retries import RetryPolicy
from horae.domain.schedules.calendar_windows import CalendarWindow
from horae.domain.schedules.triggers import RollingTrigger, cron
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.engine.rolling import Roller
from horae.engine.territory import Territory
from horae.runtime.telemetry import log
from horae.service.instances import dead_letters, interventions
from horae.service.jobs import jobs
from horae.service.rolling import subjects
from horae.store.statements import sql
from horae.store.tx import Tx
from horae.upkeep.copies import Copier
from horae.upkeep.coverages import Coverer
from tests.engine.builders import a_pushed_job
from tests.engine.fleet import kill, several
from tests.steps import NOWHERE, a_job, claim, move_clock, query, settle, until

ANCIENT = datetime(2020, 1, 1, tzinfo=UTC)
ONE_TRY = RetryPolicy(max_failures=1)
RECORDED = "select business_key as key, fire_time, ended_at, state from instance_history"


async def a_set(ctx, store, *, window=600, every=60, target=NOWHERE, width=16, **facts):
    anchor = store.cells[0].clock.now().replace(microsecond=0) - timedelta(seconds=1)
    trigger = RollingTrigger(window=window, every=every, anchor=anchor, **facts)
    made = await a_job(ctx, "STOCK", trigger, target=target, retry=ONE_TRY, width=width)
    await Copier(store).once()
    return made


def rollers(store):
    return [Roller(cell, Territory(store.shards_of(cell)), lambda _timer: None) for cell in store.cells]


async def roll(store):
    for roller in rollers(store):
        await roller.run_all()


async def listed(ctx, made):
    return {one.key: one for one in await subjects.page(ctx, made, "", 1000)}


async def finish_all(store, outcome=Success()):  # noqa: B008
    """Everything that waits is claimed and ends so, as if its time had come."""
    await query(store, "update instance_live set due_at = least(due_at, $1)", store.cells[0].clock.now())
    done = []
    for cell in store.cells:
        for ran in await claim(cell, store, limit=1000):
            await settle(store, ran, outcome)
            done.append(ran)
    return done


async def born(store):
    return await query(
        store, "select business_key as key, fire_time, due_at, idem_key from instance_live order by due_at"
    )


async def test_sets_take_turns_by_batches_and_one_that_fails_costs_its_own_turn_only(store, monkeypatch):
    [cell, *_] = store.cells
    roller = Roller(cell, Territory(store.shards_of(cell)), lambda _timer: None)
    batches, seen = {"far behind": 5, "bad": 3, "small": 2}, []

    async def work(job):
        seen.append(job.name)
        if job.name == "bad":
            raise ValueError(job.name)
        batches[job.name] -= 1
        return batches[job.name] > 0

    monkeypatch.setattr(roller, "_known", [replace(a_pushed_job(), name=name) for name in batches])
    monkeypatch.setattr(roller, "_work", lambda _job, **_kinds: deque([work]))
    await roller._roll(ends=True, at_once=True)
    assert seen == ["far behind", "bad", "small", "far behind", "small", *["far behind"] * 3]
    await roller._roll(ends=True, at_once=True)
    assert "bad" not in seen[8:]


async def test_a_refresh_whose_end_bears_a_time_before_its_beginning_is_no_lost_one(ctx, store):
    """Who began it and who ended it go by clocks that differ a little."""
    made = await a_set(ctx, store)
    await subjects.add(ctx, made, ["a"], at_once=True)
    await roll(store)
    await finish_all(store)
    await query(store, "update subject set started_at = started_at + interval '5 seconds'")
    await roll(store)
    assert [one.remark for one in (await listed(ctx, made)).values()] == ["SUCCESS"]


async def test_a_subject_is_refreshed_once_in_its_window_success_or_failure_alike(ctx, store):
    made = await a_set(ctx, store)
    await subjects.add(ctx, made, ["a", "b"], at_once=True)
    await roll(store)
    assert {ran.business_key for ran in await finish_all(store)} == {"a", "b"}
    await roll(store)
    found = await listed(ctx, made)
    assert {(one.remark, one.instance_id) for one in found.values()} == {("SUCCESS", None)}
    assert all(one.started_at <= one.finished_at == one.last_success_at for one in found.values())
    for seconds in (60, 300, 239):
        await move_clock(store, seconds=seconds + 1)
        await roll(store)
        assert await born(store) == [], seconds
        await move_clock(store, seconds=-1)
    await move_clock(store, seconds=62)
    everyone = rollers(store)
    for _ in range(12):
        for roller in everyone:
            await roller.run_all()
        await move_clock(store, seconds=5)
    failed = await finish_all(store, Unrecoverable(ErrorCode.HANDLER, "the shelf is empty"))
    assert len(failed) == 2
    await roll(store)
    again = await listed(ctx, made)
    assert {one.remark for one in again.values()} == {"DEAD HANDLER the shelf is empty"}
    assert {key: one.last_success_at for key, one in again.items()} == {
        key: one.last_success_at for key, one in found.items()
    }
    await move_clock(store, seconds=300)
    await roll(store)
    assert await born(store) == [], "a failure waits for its window too"


async def test_new_subjects_wait_for_the_next_tick_unless_they_may_run_at_once(ctx, store):
    made = await a_set(ctx, store)
    await subjects.add(ctx, made, ["later"])
    await subjects.add(ctx, made, ["now"], at_once=True)
    await roll(store)
    assert [row["key"] for row in await born(store)] == ["now"]
    await finish_all(store)
    await move_clock(store, seconds=60)
    await roll(store)
    assert [row["key"] for row in await born(store)] == ["later"], "what ran at once counts"


async def test_ticks_by_a_cron_schedule_take_who_was_not_refreshed_for_calendar_days(ctx, store):
    await move_clock(store, hours=-((store.cells[0].clock.now().hour - 3) % 24))
    trigger = RollingTrigger(CalendarWindow(zone="Europe/Berlin", days=2), cron("0 * * * *"), ANCIENT)
    made = await a_job(ctx, "STOCK", trigger, target=NOWHERE, retry=ONE_TRY, width=16)
    await Copier(store).once()
    await subjects.add(ctx, made, ["a"], at_once=True)
    await roll(store)
    assert len(await finish_all(store)) == 1
    await roll(store)
    for hours, many in ((23, 0), (23, 0), (4, 1), (1, 0)):
        await move_clock(store, hours=hours)
        await roll(store)
        rows = await born(store)
        assert len(rows) == many, hours
        assert all(row["fire_time"].minute == row["fire_time"].second == 0 for row in rows)
        assert len(await finish_all(store)) == many
        await roll(store)


async def test_a_tick_takes_the_oldest_first_and_spreads_them_over_itself(ctx, store):
    made = await a_set(ctx, store, width=1, every=100, window=1000)
    await subjects.add(ctx, made, [f"k{n:02}" for n in range(20)], at_once=True)
    await roll(store)
    await finish_all(store)
    await roll(store)
    await query(store, "update subject set aged_at = aged_at - interval '1 day' * right(key, 2)::int")
    await move_clock(store, seconds=1010)
    now = store.cell(made.shard).clock.now()
    await roll(store)
    first = await born(store)
    assert [row["key"] for row in first] == ["k19", "k18"], "five seconds ahead, and no further"
    assert (first[1]["due_at"] - first[0]["due_at"]).total_seconds() == pytest.approx(0.9 * 91 / 20, abs=0.2)
    assert first[0]["due_at"] - now < timedelta(seconds=5)


async def test_a_node_takes_of_the_targets_rate_its_part_of_the_set(ctx, store, catcher):
    target = HttpTarget(catcher.url, rate=20)
    made = await a_set(ctx, store, every=50, window=5000, width=4096, target=target)
    for first in (0, 1000):
        await subjects.add(ctx, made, [f"k{n:04}" for n in range(first, first + 1000)])
    await move_clock(store, seconds=6000)
    parts = [(cell, shards) for cell in store.cells for shards in halves(store.shards_of(cell))]
    for cell, shards in parts:
        await Roller(cell, Territory(shards), lambda _timer: None).run_all()
    assert 95 <= len(await born(store)) <= 110, "five seconds ahead of twenty a second, all of them together"


async def test_what_a_slow_target_does_not_end_keeps_more_from_being_born(ctx, store, catcher):
    target = HttpTarget(catcher.url, rate=20)
    made = await a_set(ctx, store, every=50, window=5000, width=16, target=target)
    await subjects.add(ctx, made, [f"k{n:04}" for n in range(1000)])
    await move_clock(store, seconds=6000)
    everyone = rollers(store)
    for _ in range(9):  # nobody calls: half a minute passes, and what was born stays
        for roller in everyone:
            await roller.run_all()
        await move_clock(store, seconds=4)
    waiting = len(await born(store))
    assert 300 <= waiting <= 420, "fifteen seconds of twenty a second"
    await finish_all(store)
    for roller in everyone:
        await roller.run_all()
    assert 90 <= len(await born(store)) <= 210


def halves(shards):
    held = sorted(shards)
    return held[: len(held) // 2], held[len(held) // 2 :]


async def test_three_nodes_that_all_believe_to_own_everything_record_each_refresh_once(ctx, store):
    made = await a_set(ctx, store, every=2, window=4, width=4096)
    keys = [f"k{n:03}" for n in range(400)]
    await subjects.add(ctx, made, keys, at_once=True)
    everyone = [roller for _ in range(3) for roller in rollers(store)]
    await asyncio.gather(*(roller.run_all() for roller in everyone))
    live = await born(store)
    assert Counter(row["key"] for row in live) == Counter(keys)
    assert len({row["idem_key"] for row in live}) == 400
    occupied = await query(
        store, "select count(distinct batch_no)::int as many from subject where instance_id is not null"
    )
    assert all(row["many"] >= 1 for row in occupied)


async def test_a_node_killed_between_occupying_and_birth_leaves_nothing_occupied(ctx, store, monkeypatch):
    from horae.store.rolling import subjects as rows

    made = await a_set(ctx, store)
    await subjects.add(ctx, made, ["a"], at_once=True)

    async def killed(*_):
        raise asyncio.CancelledError

    with monkeypatch.context() as patched:
        patched.setattr(rows, "insert_refreshes", killed)
        with pytest.raises(asyncio.CancelledError):
            await roll(store)
    assert (await listed(ctx, made))["a"].batch_no is None
    await roll(store)
    assert [row["key"] for row in await born(store)] == ["a"]


async def test_a_subject_taken_out_is_not_refreshed_and_one_put_in_again_waits_for_its_predecessor(ctx, store):
    made = await a_set(ctx, store)
    await subjects.add(ctx, made, ["a", "b"], at_once=True)
    await roll(store)
    assert (await subjects.remove(ctx, made, ["a", "b", "c"])).changed == 2
    assert (await subjects.add(ctx, made, ["a"], at_once=True)).changed == 1
    await roll(store)
    assert len(await born(store)) == 2, "what was born of it may end"
    await finish_all(store)
    await roll(store)
    assert [row["key"] for row in await born(store)] == ["a"]


async def test_a_refresh_that_a_person_cancels_counts_as_one_and_a_dead_one_is_not_replayed(ctx, store):
    made = await a_set(ctx, store)
    await subjects.add(ctx, made, ["a"], at_once=True)
    await roll(store)
    one = (await listed(ctx, made))["a"].instance_id
    assert (await interventions.cancel(ctx, one)).business_key == "a"
    await roll(store)
    assert (await listed(ctx, made))["a"].remark == "CANCELLED"
    await subjects.add(ctx, made, ["b"], at_once=True)
    await roll(store)
    [dead] = await finish_all(store, Unrecoverable(ErrorCode.HANDLER, "no"))
    with pytest.raises(Conflict):
        await dead_letters.replay(ctx, dead.id)


async def test_a_paused_job_takes_nothing_and_a_removed_one_is_over(ctx, store):
    made = await a_set(ctx, store)
    await subjects.add(ctx, made, ["a"], at_once=True)
    await jobs.pause(ctx, "STOCK")
    await Copier(store).once()
    await roll(store)
    assert await born(store) == []
    await jobs.resume(ctx, "STOCK")
    await Copier(store).once()
    await roll(store)
    assert len(await born(store)) == 1


async def test_coverage_is_counted_told_when_it_is_lost_and_when_it_is_met(ctx, store):
    made = await a_set(ctx, store, target=QueueTarget("stock"))
    await subjects.add(ctx, made, [f"k{n}" for n in range(10)], at_once=True)
    coverer = Coverer(store, store.shards_of)
    await coverer.once()
    counted = await subjects.coverage(ctx, made)
    assert (counted.subjects, counted.fresh, counted.met) == (10, 0, False)
    await roll(store)
    await query(store, "update subject set last_success_at = $1 where key < 'k5'", store.cells[0].clock.now())
    await move_clock(store, seconds=60)
    await coverer.once()
    counted = await subjects.coverage(ctx, made)
    assert (counted.fresh, counted.share, counted.met) == (5, 0.5, False)
    assert counted.ages == (5, 0, 0, 0, 0, 0, 5)
    assert counted.estimate_at - counted.at == pytest.approx(timedelta(seconds=60), abs=timedelta(seconds=2))
    await query(store, "update subject set last_success_at = $1", store.cells[0].clock.now())
    await coverer.once()
    assert (await subjects.coverage(ctx, made)).met
    told = await query(store, "select event from outbox where event like 'COVERAGE%' order by at")
    assert [row["event"] for row in told] == ["COVERAGE_LOST", "COVERAGE_MET"]


class Queries:
    """Counts the statements of the sets themselves, beside those of the calls."""

    def __init__(self, monkeypatch):
        self.many = 0
        names = ("occupy", "insert_refreshes", "finish", "count_eligible", "add")
        ours = {sql(f"rolling/subjects/{name}") for name in names} | {sql("jobs/jobs/rolling")}
        for verb in ("rows", "value"):
            monkeypatch.setattr(Tx, verb, self._counting(getattr(Tx, verb), ours))

    def _counting(self, run, ours):
        async def counted(tx, statement, *args):
            self.many += statement in ours
            return await run(tx, statement, *args)

        return counted


async def refreshed(store, passes, many):
    found = await query(store, "select count(*)::int as many from instance_history where state = 'SUCCESS'")
    return sum(row["many"] for row in found) >= passes * many


async def rolled(ctx, store, cells, catcher, monkeypatch, many, rate, patience):
    """Two windows of a set under three nodes, of which two are killed; what was seen is what is promised."""
    every, window = many / rate / 0.6, 10 * many / rate
    target = HttpTarget(f"{catcher.url}/stock", rate=rate)
    keys = [f"product-{n:06}" for n in range(many)]
    made = await a_set(ctx, store, every=every, window=window, target=target, width=4096)
    for first in range(0, many, 1000):
        await subjects.add(ctx, made, keys[first : first + 1000])
    queries = Queries(monkeypatch)
    async with several(cells, 3) as nodes:
        for number in (1, 2):
            await move_clock(store, seconds=window + every)
            await until(lambda n=number: refreshed(store, n - 0.6, many), patience)
            await kill(nodes[number])
            await until(lambda n=number: refreshed(store, n, many), patience)
        await until(lambda: none_occupied(store), patience)
    times = {}
    for row in await query(store, RECORDED):
        times.setdefault(row["key"], []).append((row["fire_time"], row["ended_at"]))
    assert set(times) == set(keys)
    for ran in times.values():
        (_, ended), (tick, _) = sorted(ran)
        assert tick - ended >= timedelta(seconds=window), "none is recorded twice in its window"
    arrived = sorted(arrival.began for arrival in catcher.arrivals)
    busiest = max(bisect_left(arrived, at + 1) - n for n, at in enumerate(arrived))
    per_subject = queries.many / len(catcher.effects)
    log.info("rolled", refreshes=len(catcher.effects), per_subject=round(per_subject, 4), busiest_second=busiest)
    assert len(catcher.effects) == 2 * many
    assert set(catcher.effects.values()) == {1} or catcher.effects.total() - len(catcher.effects) <= 2 * rate
    assert busiest <= 2 * rate, "a quarter of a second's calls saved up, and what flows into it"
    assert per_subject <= 0.1


async def none_occupied(store):
    return not await query(store, "select from subject where instance_id is not null limit 1")


@pytest.mark.timeout(300)
async def test_two_thousand_subjects_under_three_nodes_of_which_two_are_killed(ctx, store, cells, catcher, monkeypatch):
    await rolled(ctx, store, cells, catcher, monkeypatch, 2_000, 1_000, 120)


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_a_hundred_thousand_subjects_under_three_nodes_of_which_two_are_killed(
    ctx, store, cells, catcher, monkeypatch
):
    await rolled(ctx, store, cells, catcher, monkeypatch, 100_000, 2_000, 800)
