"""Moves of shards over HTTP, for admins of the platform."""

from datetime import timedelta
from uuid import uuid4

from horae.domain.ids import Prefix, public
from horae.domain.moves.moves import ROWS_KEPT
from horae.service.tasks import tasks
from horae.upkeep.shard_mover import ShardMover
from tests.steps import a_job, a_type, move_clock, query

MOVES = "/shard-moves"


async def test_a_shard_moves_and_its_job_is_found_in_the_other_cell(platform, admin, ctx, store, doors):
    job = await a_job(ctx, "moved")
    source = store.cell(job.shard)
    [target] = [cell for cell in store.cells if cell is not source]
    asked = {"action": "MOVE", "shards": [job.shard], "cell": target.name}
    [move] = (await platform.post(MOVES, json=asked)).json()
    assert (move["shard"], move["source"], move["target"]) == (job.shard, source.name, target.name)
    assert move["step"] == "COPY"
    assert (await platform.post(MOVES, json=asked)).json() == [], "it moves already"
    mover = ShardMover(store, uuid4())
    await mover.once()
    await move_clock(store, seconds=ROWS_KEPT.total_seconds() + 1)
    await mover.once()
    [move] = (await platform.get(MOVES)).json()
    assert (move["step"], move["error"]) == ("DONE", None)
    assert move["pause_ms"] is not None
    await doors.learn_shards()
    assert (await admin.get("/jobs/moved")).json()["name"] == "moved"
    rows = await query(store, "select action, resource from audit_log where action like 'shard.%'")
    assert [tuple(row) for row in rows] == [("shard.move_requested", f"shard {job.shard}")]


async def test_history_that_stayed_in_the_former_cell_is_found(platform, admin, ctx, store, doors):
    await a_type(ctx, "KEYED")
    await tasks.schedule(ctx, "KEYED", "k", at=store.clock.now() + timedelta(days=1))
    await tasks.cancel(ctx, "KEYED", "k")
    [ended] = await query(store, "select id, shard_id from instance_history")
    source = store.cell(ended["shard_id"])
    [target] = [cell for cell in store.cells if cell is not source]
    await platform.post(MOVES, json={"action": "MOVE", "shards": [ended["shard_id"]], "cell": target.name})
    await ShardMover(store, uuid4()).once()
    await doors.learn_shards()
    assert doors.cell(ended["shard_id"]).name == target.name
    id_ = public(Prefix.INSTANCE, ended["id"])
    assert (await admin.get(f"/instances/{id_}")).json()["state"] == "CANCELLED"
    listed = (await admin.get("/instances")).json()
    assert [one["id"] for one in listed["items"]] == [id_]
    again = await admin.put("/tasks/KEYED/k", json={"at": "2035-01-01T08:00:00Z"})
    assert again.status_code == 200
    [ledger] = await query(target, "select generation from task_key")
    assert ledger["generation"] == 2, "the ledger of the key has moved, too"


async def test_a_move_is_aborted_and_a_shard_that_does_not_move_has_nothing_to_abort(platform, ctx, store):
    job = await a_job(ctx, "stays")
    source = store.cell(job.shard)
    [target] = [cell for cell in store.cells if cell is not source]
    await platform.post(MOVES, json={"action": "MOVE", "shards": [job.shard], "cell": target.name})
    assert (await platform.post(f"{MOVES}/{job.shard}/abort")).json()["abort_requested"] is True
    await ShardMover(store, uuid4()).once()
    assert [one["step"] for one in (await platform.get(MOVES)).json()] == ["ABORTED"]
    refused = await platform.post(f"{MOVES}/{job.shard}/abort")
    assert (refused.status_code, refused.json()["code"]) == (409, "SCH_409_CONFLICT")


async def test_a_cell_is_drained_and_cells_are_made_even_again(platform, store):
    drained = (await platform.post(MOVES, json={"action": "DRAIN", "cell": "cell-0"})).json()
    assert len(drained) == 2048
    assert {(one["source"], one["target"]) for one in drained} == {("cell-0", "cell-1")}
    assert (await platform.post(MOVES, json={"action": "REBALANCE"})).json() == []


async def test_a_move_to_nowhere_is_refused(platform, admin):
    unknown = await platform.post(MOVES, json={"action": "MOVE", "shards": [1], "cell": "nowhere"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "SCH_404_NOT_FOUND")
    without = await platform.post(MOVES, json={"action": "DRAIN"})
    assert (without.status_code, without.json()["code"]) == (422, "SCH_422_INVALID")
    assert (await admin.get(MOVES)).status_code == 403
