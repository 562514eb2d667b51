"""Moves of shards between two cells: nothing is lost, nothing happens twice, and a move can be stopped at any step."""

import asyncio
from datetime import timedelta
from itertools import count
from uuid import uuid4

import pytest

from horae.domain.moves.moves import ABORTABLE, MAX_PAUSE, ROWS_KEPT, MoveStep
from horae.domain.schedules.triggers import cron
from horae.runtime.metrics import MetricRegistry
from horae.store.moves import moved_rows, moves, shard_states
from horae.store.schedules import cursors
from horae.store.statements import sql
from horae.upkeep import move_steps, shard_mover
from horae.upkeep.move_rows import MovedRows, TargetLostError
from horae.upkeep.move_steps import LEASE_TTL, MoveCoordinator
from horae.upkeep.shard_mover import ShardMover
from tests.steps import Looker, a_job, move_clock, query
from tests.upkeep.moving import (
    KilledError,
    MortalCoordinator,
    RowsRead,
    active_cells,
    ask_for_move,
    complete,
    is_empty,
    lose_copy,
    lose_lease,
    move_on,
    other_than,
    read_move,
    rows_in,
    run_until,
)

MANY_KEYS = """
    insert into task_key (updated_at, generation, shard_id, job_id, tenant_id, instance_id, business_key, decisions)
    select now(), 1, $1::int, $2, $3, gen_random_uuid(), 'order-' || n, jsonb_build_array(jsonb_build_object('n', n))
    from generate_series($4::int, $5::int) n"""


@pytest.fixture
async def job(ctx):
    return await a_job(ctx, "moving", cron("* * * * *"))


@pytest.fixture
def source(store, job):
    return store.cell(job.shard)


@pytest.fixture
def target(store, source):
    return other_than(store, source)


def without(part, instead="true"):
    """A `sql` that leaves a condition out of every statement: a mistake that is planted."""

    def planted(name):
        return sql(name).replace(part, instead)

    return planted


async def test_a_move_brings_every_row_and_deletes_the_source_last(store, job, source, target):
    before = await rows_in(source, job.shard)
    assert all(before[table] for table in ("job", "job_cursor", "job_version"))
    move = await ask_for_move(source, target, job.shard)
    one = MoveCoordinator(source, target, uuid4())
    await one.run(move)
    move = await read_move(source, move)
    assert move.step == MoveStep.DELETE, move.error
    assert await rows_in(target, job.shard) == before == await rows_in(source, job.shard)
    assert await active_cells(store, job.shard) == [target]
    await move_clock(store, seconds=ROWS_KEPT.total_seconds() + 1)
    await one.run(move)
    assert (await read_move(source, move)).step == MoveStep.DONE
    assert await is_empty(source, job.shard)
    await store.learn_shards()
    assert store.cell(job.shard) is target


async def test_rows_that_change_while_they_are_copied_arrive_as_they_are_at_the_freeze(store, job, source, target):
    move = await ask_for_move(source, target, job.shard)
    one, move = await run_until(source, target, move, MoveStep.FREEZE)
    await query(source, "update job set name = 'renamed' where id = $1", job.id)
    await query(source, "delete from job_version where job_id = $1", job.id)
    here = await rows_in(source, job.shard)
    assert here != await rows_in(target, job.shard)
    await one.run(move)
    assert await rows_in(target, job.shard) == here
    assert await active_cells(store, job.shard) == [target]


@pytest.mark.parametrize("skipped", [{2, 3, 5, 6}, pytest.param(set(), marks=pytest.mark.long)], ids=["some", "all"])
async def test_a_coordinator_killed_after_any_transaction_is_followed_by_another(store, job, source, target, skipped):
    """In the suite, some transactions of the first step are skipped."""
    killed_at = set()
    for transactions in (number for number in count(1) if number not in skipped):
        before = await rows_in(source, job.shard)
        move = await ask_for_move(source, target, job.shard)
        try:
            await MortalCoordinator(source, target, uuid4(), transactions).run(move)
        except KilledError:
            killed_at.add((await read_move(source, move)).step)
        else:
            break
        assert len(await active_cells(store, job.shard)) <= 1
        done = await complete(store, source, target, move)
        assert done.step == MoveStep.DONE
        assert await active_cells(store, job.shard) == [target]
        assert (await rows_in(target, job.shard), await is_empty(source, job.shard)) == (before, True)
        source, target = target, source
    assert killed_at == set(MoveStep) - {MoveStep.DONE, MoveStep.CLEAN, MoveStep.ABORTED}


async def test_a_move_can_be_aborted_at_every_step_until_the_target_is_active(store, job, source, target):
    before = await rows_in(source, job.shard)
    for step in sorted(ABORTABLE):
        move = await ask_for_move(source, target, job.shard)
        one, move = await run_until(source, target, move, step)
        async with source.tx() as tx:
            await moves.request_abort(tx, move.shard, move.id)
        await one.run(move)
        assert (await read_move(source, move)).step == MoveStep.ABORTED
        assert await active_cells(store, job.shard) == [source]
        assert (await rows_in(source, job.shard), await is_empty(target, job.shard)) == (before, True)


async def test_a_move_that_is_aborted_too_late_is_completed(store, job, source, target):
    move = await ask_for_move(source, target, job.shard)
    one, move = await run_until(source, target, move, MoveStep.ACTIVATE)
    async with target.tx() as tx:
        assert await shard_states.activate(tx, move)  # and it died before the source heard of it
    async with source.tx() as tx:
        await moves.request_abort(tx, move.shard, move.id)
    await one.run(move)
    assert (await read_move(source, move)).step == MoveStep.DELETE
    assert await active_cells(store, job.shard) == [target]


async def test_a_target_that_lost_the_rows_before_its_activation_gets_them_again(store, job, source, target):
    before = await rows_in(source, job.shard)
    move = await ask_for_move(source, target, job.shard)
    _, move = await run_until(source, target, move, MoveStep.ACTIVATE)
    await lose_copy(target, job.shard)
    await lose_lease(store)
    await MoveCoordinator(source, target, uuid4()).run(move)
    assert (await read_move(source, move)).step == MoveStep.DELETE
    assert await rows_in(target, job.shard) == before
    assert await active_cells(store, job.shard) == [target]


@pytest.mark.parametrize("is_aborted", [False, True])
async def test_a_shard_that_has_moved_on_from_its_target_is_not_opened_again(store, job, source, target, is_aborted):
    move = await ask_for_move(source, target, job.shard)
    _, move = await run_until(source, target, move, MoveStep.ACTIVATE)
    async with target.tx() as tx:
        assert await shard_states.activate(tx, move)  # and it died before the source heard of it
    await move_on(target, job.shard)
    if is_aborted:
        async with source.tx() as tx:
            await moves.request_abort(tx, move.shard, move.id)
    await lose_lease(store)
    await MoveCoordinator(source, target, uuid4()).run(move)
    assert (await read_move(source, move)).step == MoveStep.DELETE
    assert await active_cells(store, job.shard) == [], "a third cell has it"


async def _wake_a_stopped_coordinator(store, job, source, target):
    """It was stopped before it opens the target; another one aborts the move; then it goes on."""
    move = await ask_for_move(source, target, job.shard)
    stopped, at = await run_until(source, target, move, MoveStep.ACTIVATE)
    await lose_lease(store)
    async with source.tx() as tx:
        await moves.request_abort(tx, move.shard, move.id)
    await MoveCoordinator(source, target, uuid4()).run(move)
    assert await active_cells(store, job.shard) == [source]
    return stopped, at


async def test_a_coordinator_that_was_stopped_opens_no_second_cell(store, job, source, target):
    stopped, at = await _wake_a_stopped_coordinator(store, job, source, target)
    with pytest.raises(TargetLostError):
        await stopped.activate(at)
    assert await active_cells(store, job.shard) == [source]


async def test_without_the_check_of_the_epoch_two_cells_are_active(store, job, source, target, monkeypatch):
    stopped, at = await _wake_a_stopped_coordinator(store, job, source, target)
    monkeypatch.setattr(shard_states, "sql", without("s.epoch = $2", "$2::bigint is not null"))
    await stopped.activate(at)
    assert len(await active_cells(store, job.shard)) == 2, "the planted mistake is seen"


async def test_a_coordinator_that_gets_a_move_back_stops_the_one_that_had_it_meanwhile(
    store, job, source, target, monkeypatch
):
    monkeypatch.setattr(move_steps, "WRITER_WAIT_S", 0.01)
    move = await ask_for_move(source, target, job.shard)
    first, second = (MoveCoordinator(source, target, uuid4()) for _ in range(2))
    async with source.pool.acquire() as connection, connection.transaction():
        fenced = "update job set name = 'late' where id = $1 and not exists (select from shard where state = 'FROZEN')"
        await connection.execute(fenced, job.id)
        await first.run(move)
        assert "writes for too long" in (await read_move(source, move)).error
        await lose_lease(store)
        async with source.tx() as tx:
            taken = await moves.take(tx, move, second._me, LEASE_TTL)
        at = await second._prepare(taken)
        rows = await second._moved_rows()
        await lose_lease(store)
        await first.run(await read_move(source, move))
    with pytest.raises(TargetLostError):
        await rows.copy_all(at)
    assert (await complete(store, source, target, move)).step == MoveStep.DONE


async def test_a_copy_that_lasts_longer_than_the_lease_ends_though_two_coordinators_want_the_move(
    job, source, target, monkeypatch
):
    monkeypatch.setattr(move_steps, "LEASE_TTL", timedelta(seconds=0.6))
    first_page = moved_rows.first_page

    async def slowly(*args):
        await asyncio.sleep(0.05)  # for each of more than twenty tables
        return await first_page(*args)

    monkeypatch.setattr(moved_rows, "first_page", slowly)
    move = await ask_for_move(source, target, job.shard)

    async def work(one):
        while (at := await read_move(source, move)).step != MoveStep.DELETE:
            await one.run(at)

    async with asyncio.timeout(15):
        await asyncio.gather(*(work(MoveCoordinator(source, target, uuid4())) for _ in range(2)))


async def test_a_step_is_cancelled_when_another_coordinator_has_the_move(job, source, target, monkeypatch):
    monkeypatch.setattr(move_steps, "LEASE_TTL", timedelta(seconds=0.15))
    begun, ended = asyncio.Event(), asyncio.Event()

    async def copy_for_ever(*_args):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(MovedRows, "copy_all", copy_for_ever)
    move = await ask_for_move(source, target, job.shard)
    async with asyncio.timeout(15):
        going = asyncio.create_task(MoveCoordinator(source, target, uuid4()).run(move))
        await begun.wait()
        await query(source, "update shard_move set coordinator = gen_random_uuid()")
        assert await going == 0
    assert ended.is_set()


async def test_a_shard_that_was_opened_again_may_be_closed_for_longer_the_next_time(
    store, job, source, target, monkeypatch
):
    copy_differences, tries = MovedRows.copy_differences, count(1)

    async def slowly(rows, move):
        if move.step == MoveStep.CATCH_UP:
            assert next(tries) < 5, "the shard never moves"
            await move_clock(store, seconds=1.5 * MAX_PAUSE.total_seconds())
        return await copy_differences(rows, move)

    monkeypatch.setattr(MovedRows, "copy_differences", slowly)
    move = await ask_for_move(source, target, job.shard)
    await MoveCoordinator(source, target, uuid4()).run(move)
    assert (await read_move(source, move)).step == MoveStep.DELETE
    assert next(tries) == 3, "it was opened again once"


async def test_a_step_that_hangs_while_the_shard_is_closed_does_not_keep_its_lease(job, source, target, monkeypatch):
    monkeypatch.setattr(move_steps, "CLOSED_LEASE_TTL", timedelta(seconds=0.15))
    monkeypatch.setattr(move_steps, "MAX_PAUSE", timedelta(seconds=0.3))
    move = await ask_for_move(source, target, job.shard)
    first, move = await run_until(source, target, move, MoveStep.CATCH_UP)

    async def hang(*_args):
        await asyncio.Event().wait()

    monkeypatch.setattr(first._rows, "copy_differences", hang)
    hanging = asyncio.create_task(first.run(move))
    second = MoveCoordinator(source, target, uuid4())
    async with asyncio.timeout(15):
        while (at := await read_move(source, move)).step != MoveStep.DELETE:
            await second.run(at)
    assert await hanging == 0


async def _fire_in_both_cells(store, job, source, target):
    """The owner in the source does not know that the shard has moved, and both fire. Returns the rows of the fire."""
    zombie = Looker(store, source)
    move = await ask_for_move(source, target, job.shard)
    await MoveCoordinator(source, target, uuid4()).run(move)
    assert await active_cells(store, job.shard) == [target]
    await store.learn_shards()
    await move_clock(store, seconds=60)
    await zombie.once()
    await Looker(store, target).once()
    found = await query(store, "select fire_time from instance_live where job_id = $1", job.id)
    return [row["fire_time"] for row in found]


async def test_an_owner_that_does_not_know_of_the_move_fires_nothing(store, job, source, target):
    fired = await _fire_in_both_cells(store, job, source, target)
    assert fired
    assert len(fired) == len(set(fired))


async def test_without_the_check_of_the_closed_shard_a_fire_has_two_rows(store, job, source, target, monkeypatch):
    fence = "not exists (select from shard s where s.shard_id = f.shard_id and s.state <> 'ACTIVE')"
    assert fence in sql("schedules/cursors/fire")
    monkeypatch.setattr(cursors, "sql", without(fence))
    fired = await _fire_in_both_cells(store, job, source, target)
    assert len(fired) > len(set(fired)), "the planted mistake is seen"


async def _write_over_the_freeze(job, source, target, *, is_waited_for):
    """A transaction passes the fence before the freeze and commits after it. Returns the name that the target has."""
    move = await ask_for_move(source, target, job.shard)
    one, move = await run_until(source, target, move, MoveStep.FREEZE)
    async with source.pool.acquire() as connection:
        writing = connection.transaction()
        await writing.start()
        fenced = "update job set name = 'late' where id = $1 and not exists (select from shard where state = 'FROZEN')"
        await connection.execute(fenced, job.id)
        going = asyncio.create_task(one.run(move))
        if is_waited_for:
            while (await read_move(source, move)).step == MoveStep.FREEZE:
                await asyncio.sleep(0.005)
            async with source.statement() as tx:
                assert await shard_states.writers(tx)
            assert (await read_move(source, move)).step == MoveStep.WAIT
        else:
            await going
        await writing.commit()
    await going
    return (await query(target, "select name from job where id = $1", job.id))[0]["name"]


async def test_a_transaction_that_began_before_the_freeze_is_waited_for(job, source, target):
    assert await _write_over_the_freeze(job, source, target, is_waited_for=True) == "late"


async def test_without_the_wait_a_late_write_is_lost(job, source, target, monkeypatch):
    async def nobody(_tx):
        return frozenset()

    monkeypatch.setattr(shard_states, "writers", nobody)
    name = await _write_over_the_freeze(job, source, target, is_waited_for=False)
    assert name == "moving", "the planted mistake is seen"


async def test_a_target_that_does_not_answer_opens_the_shard_again(store, job, source, target, monkeypatch):
    move = await ask_for_move(source, target, job.shard)
    one, move = await run_until(source, target, move, MoveStep.CATCH_UP)
    await move_clock(store, seconds=10)

    async def refuse(*_args):
        raise ConnectionError("the target is down")

    monkeypatch.setattr(one._rows, "copy_differences", refuse)
    await one.run(move)
    move = await read_move(source, move)
    assert (move.step, move.error) == (MoveStep.COPY, "the target is down")
    assert await active_cells(store, job.shard) == [source]
    monkeypatch.undo()
    assert (await complete(store, source, target, move)).step == MoveStep.DONE


async def test_the_duty_moves_what_was_asked_for_and_a_shard_has_one_move_at_a_time(store, job, source, target):
    move = await ask_for_move(source, target, job.shard)
    async with source.tx() as tx:
        assert not await moves.request(tx, job.shard, uuid4(), target.name, "test")
    mover = ShardMover(store, uuid4())
    assert await mover.once() > 0
    assert await ShardMover(store, uuid4()).once() == 0, "another node has the lease"
    assert (await read_move(source, move)).step == MoveStep.DELETE
    await mover.once()
    metrics = MetricRegistry(mover.metrics).text().decode()
    assert f'horae_shard_moves_running{{cell="{source.name}",step="DELETE"}} 1.0' in metrics
    assert f'horae_shard_moves_failing{{cell="{source.name}"}} 0.0' in metrics
    assert f'horae_shard_move_pause_seconds_count{{cell="{source.name}"}} 1.0' in metrics
    async with target.tx() as tx:
        assert await moves.request(tx, job.shard, uuid4(), source.name, "test")
    await mover.once()
    assert await active_cells(store, job.shard) == [target], "the rows in the first cell are not deleted yet"
    await move_clock(store, seconds=ROWS_KEPT.total_seconds() + 1)
    await mover.once()
    await mover.once()
    assert await active_cells(store, job.shard) == [source]


@pytest.mark.parametrize("keys", [2000, pytest.param(200_000, marks=pytest.mark.long)])
async def test_a_closed_shard_is_read_once_and_then_only_where_it_changed(
    store, job, source, target, record_property, keys, monkeypatch
):
    """Rows are counted. The pause is recorded, not bounded: other processes of the machine would decide it."""
    changed = keys // 1000
    for start in range(0, keys, 10_000):
        await query(source, MANY_KEYS, job.shard, job.id, job.tenant_id, start, min(keys, start + 10_000) - 1)
    await query(source, "analyze task_key")
    move = await ask_for_move(source, target, job.shard)
    one, move = await run_until(source, target, move, MoveStep.FREEZE)
    await query(target, "analyze task_key")
    await query(source, "update task_key set revision = revision + 1 where business_key like '%777'")
    with monkeypatch.context() as patch:
        read = RowsRead(patch, source, target)
        await one.run(move)
    move = await read_move(source, move)
    record_property("pause_ms", move.pause_ms)
    assert move.step == MoveStep.DELETE
    for cell in (source, target):
        found = await query(cell, "select count(*) as many, sum(revision) as revisions from task_key")
        assert tuple(found[0]) == (keys, keys + changed)
    assert await read.count(source, "task_key") <= keys + 4 * changed
    assert await read.count(target, "task_key") <= 4 * changed


async def test_rows_that_are_deleted_or_named_again_while_the_shard_is_copied_are_followed(store, job, source, target):
    await query(source, MANY_KEYS, job.shard, job.id, job.tenant_id, 0, 99)
    move = await ask_for_move(source, target, job.shard)
    one, move = await run_until(source, target, move, MoveStep.FREEZE)
    rows = await one._moved_rows()
    await query(source, "delete from task_key where business_key like '%7'")
    assert await rows.copy_differences(move) == 10
    await query(source, "update task_key set business_key = 'moved-' || business_key where business_key like '%8'")
    assert await rows.copy_differences(move) == 20
    assert await rows.are_equal(move)
    await query(source, "update task_key set revision = 9 where business_key = 'order-1'")
    await query(source, "delete from task_key where business_key = 'order-2'")
    await one.run(move)
    assert await rows_in(target, job.shard) == await rows_in(source, job.shard)
    assert (await read_move(source, move)).step == MoveStep.DELETE


async def _visit_all(store, source, target, monkeypatch, visit):
    """One round over five moves, in which `visit` stands for the work of a coordinator. Returns the visited shards."""
    found = await query(source, "select shard_id from shard where state = 'ACTIVE' order by shard_id limit 5")
    shards = [row["shard_id"] for row in found]
    for shard in shards:
        await ask_for_move(source, target, shard)
    visited = []

    async def run(_, move):
        visited.append(move.shard)
        await visit(move, shards)
        return 0

    monkeypatch.setattr(MoveCoordinator, "run", run)
    await ShardMover(store, uuid4())._move_out_of(source)  # a visit of the target would find it up
    return shards, visited


async def test_moves_to_a_target_that_is_down_are_left_out_after_one_try_unless_a_shard_must_be_opened(
    store, source, target, monkeypatch
):
    async def find_it_down(move, shards):
        target.reach.mark_down(ConnectionError("the target is down"))
        await query(source, "update shard_move set step = 'CATCH_UP' where shard_id = $1", shards[3])

    monkeypatch.setattr(shard_mover, "CLOSED_LOOK_INTERVAL_S", 0.0)
    shards, visited = await _visit_all(store, source, target, monkeypatch, find_it_down)
    assert [shard for shard in visited if shard != shards[3]] == shards[:1]
    assert shards[3] in visited


async def test_a_shard_that_is_closed_meanwhile_is_visited_before_the_other_moves(store, source, target, monkeypatch):
    async def leave_one_closed(move, shards):
        await query(source, "update shard_move set step = 'CATCH_UP' where shard_id = $1", shards[3])

    monkeypatch.setattr(shard_mover, "CLOSED_LOOK_INTERVAL_S", 0.0)
    shards, visited = await _visit_all(store, source, target, monkeypatch, leave_one_closed)
    assert visited[:2] == [shards[0], shards[3]]
    assert set(visited) == set(shards)
