"""Moves of shards between two cells: nothing is lost, nothing happens twice, and a move can be stopped at any step."""

from uuid import uuid4

from horae.domain.moves.moves import ROWS_KEPT, MoveStep
from horae.runtime.randomness import new_id
from horae.store.databases.table_moves import COPIED_IN_MOVE, DELETED_AFTER_MOVE, TABLE_MOVES
from horae.store.moves import moves
from horae.upkeep.move_steps import MoveCoordinator
from tests.steps import a_job, move_clock, query


async def ask_for_move(source, target, shard):
    id_ = new_id(shard, source.clock.now())
    async with source.tx() as tx:
        assert await moves.request(tx, shard, id_, target.name, "test")
        return await moves.find(tx, shard, id_)


async def read(cell, move):
    async with cell.statement() as tx:
        return await moves.find(tx, move.shard, move.id)


async def rows_in(cell, shard):
    """Every row of a shard that a move copies, as text, by table."""
    found = {}
    for table in COPIED_IN_MOVE:
        column = TABLE_MOVES[table].shard_column
        rows = await query(cell, f'select t::text as row from "{table}" t where {column} = $1', shard)
        found[table] = sorted(row["row"] for row in rows)
    return found


async def states_of(store, shard):
    return [(await query(cell, "select state from shard where shard_id = $1", shard))[0][0] for cell in store.cells]


async def test_a_move_brings_every_row_and_deletes_the_source_last(ctx, store):
    job = await a_job(ctx, "moving")
    source = store.cell(job.shard)
    [target] = [cell for cell in store.cells if cell is not source]
    before = await rows_in(source, job.shard)
    assert all(before[table] for table in ("job", "job_cursor", "job_version"))
    move = await ask_for_move(source, target, job.shard)
    one = MoveCoordinator(source, target, uuid4())
    await one.run(move)
    move = await read(source, move)
    assert move.step == MoveStep.DELETE, move.error
    assert await rows_in(target, job.shard) == before == await rows_in(source, job.shard)
    assert sorted(await states_of(store, job.shard)) == ["ACTIVE", "ELSEWHERE"]
    await move_clock(store, seconds=ROWS_KEPT.total_seconds() + 1)
    await one.run(move)
    left = await rows_in(source, job.shard)
    assert not any(left[table] for table in DELETED_AFTER_MOVE)
    assert (await read(source, move)).step == MoveStep.DONE
    await store.learn_shards()
    assert store.cell(job.shard) is target
