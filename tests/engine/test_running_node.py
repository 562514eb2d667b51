"""A running node over real HTTP: the whole path, the hand-back, and a call that was replaced while it hung."""

import asyncio
from datetime import timedelta

from horae.domain.instances.retries import RetryPolicy
from horae.domain.schedules.triggers import DelayTrigger
from horae.domain.targets.targets import HttpTarget
from horae.runtime.clock import boottime
from horae.runtime.settings import CellSettings
from horae.service.instances import dead_letters, instances
from horae.service.tasks import tasks
from horae.store.store import Store
from horae.upkeep.copies import Copier
from tests.engine.running import SHORT_TTL, ended, running
from tests.steps import a_job, a_type, every, query, until
from tests.system.proxy import proxied

SHORT = RetryPolicy(base=0.001, jitter_min=0.0, jitter_max=0.01)


async def test_created_due_six_503s_a_dead_letter_a_replay_and_success(ctx, store, catcher):
    catcher.answer = lambda _arrival: 503
    async with running(store):
        await a_job(ctx, "a", DelayTrigger(0.2), target=HttpTarget(f"{catcher.url}/a"), retry=SHORT)
        await until(lambda: ended(store, 1, "DEAD"))
        assert [arrival.attempt for arrival in catcher.arrivals] == [1, 2, 3, 4, 5, 6]
        [letter] = await dead_letters.listing(ctx)
        assert (letter.job, letter.error_code, letter.tag) == ("a", "HTTP_5XX", "transient_error")
        catcher.answer = lambda _arrival: 200
        await dead_letters.replay(ctx, letter.instance_id)
        await until(lambda: ended(store, 1))
    [letter] = await dead_letters.listing(ctx)
    assert letter.status == "REPLAYED"
    assert {arrival.idempotency_key for arrival in catcher.arrivals} == set(catcher.effects)
    assert catcher.effects.total() == 1
    assert [past.state for past in await instances.of_job(ctx, "a")] == ["SUCCESS", "DEAD"]


async def test_a_task_replaced_while_its_call_hangs_runs_anew_and_the_late_answer_is_refused(ctx, store, catcher):
    catcher.answer = lambda _arrival: None if len(catcher.arrivals) == 1 else 200
    await a_type(ctx, target=HttpTarget(catcher.url))
    await Copier(store).once()
    async with running(store) as node:
        first = await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42")
        await until(lambda: len(catcher.hanging) == 1)
        second = await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42")
        assert (second.decision, second.replaced_id) == ("replaced", first.instance_id)
        await until(lambda: ended(store, 1))
        assert len(catcher.hanging) == 1, "a call in flight is never aborted"
        catcher.release()
        await until(lambda: sum(post.settler.late for post in node.runners.values()) == 1)
    past = {one.id: one.state for one in await instances.of_job(ctx, "ARTICLE_PUBLISH")}
    assert past == {first.instance_id: "CANCELLED", second.instance_id: "SUCCESS"}
    assert len(set(catcher.effects)) == 1, "a replaced task keeps its key: its receiver sees one intended effect"


async def test_a_node_told_to_stop_hands_its_shards_back_at_once_and_ends_what_is_in_flight(ctx, store, catcher):
    """The second node takes over while the first one's calls still hang; nothing is lost and nothing done twice."""
    catcher.answer = lambda arrival: None if arrival.path == "/slow" else 200
    for n in range(10):
        await a_job(ctx, f"s{n}", DelayTrigger(0), target=HttpTarget(f"{catcher.url}/slow", read_timeout=30))
        await a_job(ctx, f"f{n}", every(ctx, 1, f"f{n}"), target=HttpTarget(f"{catcher.url}/fast"))
    async with running(store, ttl=timedelta(seconds=8)) as first:
        await until(lambda: len(catcher.hanging) >= 8)  # as many as a target that never answered may have
        stopping = asyncio.create_task(first.stop(60))
        await until(lambda: _free(store))
        assert len(catcher.hanging) >= 8, "handed back before anything ended"
        async with running(store, ttl=timedelta(seconds=8)) as second:
            before = len(catcher.of("/fast"))
            await until(lambda: len(catcher.of("/fast")) >= before + 20)
            assert not stopping.done(), "what is in flight may end"
            catcher.release()
            await stopping
            catcher.answer = lambda _arrival: 200
            await until(lambda: len({a.job for a in catcher.arrivals if a.path == "/slow"}) == 10)
            await until(lambda: ended(store, 30))
        assert sum(post.settler.late for post in (*first.runners.values(), *second.runners.values())) == 0
    assert set(catcher.effects.values()) == {1}
    rows = await query(store, "select job_id, fire_time, count(*) as many from instance_history group by 1, 2")
    assert {row["many"] for row in rows} == {1}


async def test_what_still_hangs_when_the_grace_is_over_is_due_again_for_the_next_node_and_costs_nothing(
    ctx, store, catcher
):
    catcher.answer = lambda _arrival: None if len(catcher.arrivals) == 1 else 200
    await a_job(ctx, "a", DelayTrigger(0), target=HttpTarget(catcher.url, read_timeout=20))
    async with running(store) as first:
        await until(lambda: len(catcher.hanging) == 1)
        await first.stop(0.01)
        [row] = await query(store, "select state, attempt, retry_count from instance_live")
        assert tuple(row) == ("RUNNING", 1, 0), "that we hung up says nothing about the target"
        async with running(store):
            await until(lambda: ended(store, 1))
    assert [arrival.attempt for arrival in catcher.arrivals] == [1, 1]
    [past] = await instances.of_job(ctx, "a")
    assert (past.state, past.retry_count) == ("SUCCESS", 0)


async def test_what_could_not_be_fired_is_looked_at_again_soon_even_behind_a_long_backlog(ctx, store, catcher):
    await a_job(ctx, "a", every(ctx, 1, "a"), target=HttpTarget(catcher.url))
    async with running(store) as node:
        for post in node.runners.values():
            post.feeder.waiting = lambda: 1_000_000  # late rows are sought seldom while so many wait
        await until(lambda: len(catcher.arrivals) >= 1)
        desk = node.runners[store.cell(ctx.tenant.shard("a")).name].dispatcher
        alive, desk.alive = desk.alive, lambda: False
        done = desk.done
        await until(lambda: desk.done > done)
        desk.alive, before = alive, len(catcher.arrivals)
        await until(lambda: len(catcher.arrivals) > before, 20)  # and not after the 30 s of a backlog


async def _free(store):
    return not await query(store, "select from shard where owner is not null and state = 'ACTIVE' limit 1")


async def test_rows_are_written_a_moment_ahead_but_nothing_is_sent_early(ctx, store, catcher):
    for n in range(20):
        await a_job(ctx, f"j{n}", every(ctx, 1, f"j{n}"), target=HttpTarget(f"{catcher.url}/{n}"))
    offsets = []

    def have_ended():
        offsets.extend(cell.clock.now().timestamp() - boottime() for cell in store.cells)
        return ended(store, 60)

    async with running(store):
        await until(have_ended)
    skew = max(offsets) - min(offsets)  # clocks differ from each other, and are corrected at each heartbeat
    early = [arrival.late_ms for arrival in catcher.arrivals if arrival.late_ms < -1000 * skew - 2]
    assert early == []


async def test_a_node_whose_lease_ran_out_trusts_none_of_its_idle_connections(cells, ctx, catcher):
    """They died with it, without a word: one after the other would cost a patience of six seconds."""
    await a_job(ctx, "a", every(ctx, 1, "a"), target=HttpTarget(catcher.url))
    with proxied(cells[0].dsn) as one, proxied(cells[1].dsn) as two:
        far = [CellSettings(name=cell.name, dsn=proxy.dsn) for cell, proxy in zip(cells, (one, two), strict=True)]
        async with Store.of(far) as store, running(store, ttl=SHORT_TTL) as node:
            await until(lambda: len(catcher.arrivals) >= 2)
            idle = [await cell.pool.acquire() for cell in store.cells for _ in range(5)]
            for cell, connection in zip([cell for cell in store.cells for _ in range(5)], idle, strict=True):
                await cell.pool.release(connection)
            one.cut()
            two.cut()
            await until(lambda: not any(node.leases.alive(cell) for cell in store.cells))
            await until(lambda: all(cell.pool.get_idle_size() == 0 for cell in store.cells), 5)
            one.mend()
            two.mend()
            before = len(catcher.arrivals)
            await until(lambda: len(catcher.arrivals) > before)
