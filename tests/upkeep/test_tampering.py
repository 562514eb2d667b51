"""Whoever may do everything in PostgreSQL changes a sealed audit log: it is found, and the first bad block is named."""

import random
from hashlib import sha256
from uuid import UUID

import pytest

from horae.domain.audit.blocks import hash_of
from horae.service.audit import verification as service
from horae.store.audit import blocks
from tests.upkeep.auditing import fault_of, filled, trying

ROWS = 10_000
SPARE = UUID(int=1)

EDITS = {
    "actor": "actor = actor || 'x'",
    "no letter more": "actor = actor || left(action, 1), action = substr(action, 2)",
    "action": "action = 'job.resumed'",
    "resource": "resource = 'job_other'",
    "detail": "detail = detail || '{\"n\": -1}'",
    "a key more": "detail = detail || '{\"m\": null}'",
    "time": "at = at + interval '1 us'",
    "tenant": "tenant_id = gen_random_uuid()",
    "shard": "shard_id = shard_id + 64",
    "id": "id = gen_random_uuid()",
}


def edit(what):
    async def do(god, block, _later):
        where = f"xid >= {block.from_xid} and xid < {block.until_xid}"
        one = f"select id from audit_log where {where} order by md5(id::text) limit 1"
        await god.execute(f"update audit_log set {what} where id = ({one})")

    return do


async def delete_row(god, block, _later):
    where = f"xid >= {block.from_xid} and xid < {block.until_xid}"
    await god.execute(f"delete from audit_log where id = (select id from audit_log where {where} order by id limit 1)")


async def delete_rows(god, block, _later):
    await god.execute(f"delete from audit_log where xid >= {block.from_xid} and xid < {block.until_xid}")


async def insert_row(god, block, _later):
    await god.execute(
        "insert into audit_log (at, xid, shard_id, id, tenant_id, actor, action, resource, detail)"
        " select at, xid, shard_id, gen_random_uuid(), tenant_id, actor, action, resource, detail"
        f" from audit_log where xid >= {block.from_xid} order by xid limit 1"
    )


async def swap_rows(god, block, _later):
    """Two rows change places: each has the other's id and time."""
    where = f"xid >= {block.from_xid} and xid < {block.until_xid}"
    first, second = await god.fetch(f"select id, at from audit_log where {where} order by id limit 2")
    put = "update audit_log set id = $1, at = $3 where id = $2"
    await god.execute(put, SPARE, first["id"], second["at"])
    await god.execute(put, first["id"], second["id"], first["at"])
    await god.execute(put, second["id"], SPARE, second["at"])


async def swap_with_later(god, block, later):
    """A row of this block and one of a later block change their transactions."""
    mine = await god.fetchrow(
        "select id, xid from audit_log where xid >= $1 and xid < $2 limit 1", block.from_xid, block.until_xid
    )
    theirs = await god.fetchrow(
        "select id, xid from audit_log where xid >= $1 and xid < $2 limit 1", later.from_xid, later.until_xid
    )
    await god.execute("update audit_log set xid = $1 where id = $2", theirs["xid"], mine["id"])
    await god.execute("update audit_log set xid = $1 where id = $2", mine["xid"], theirs["id"])


async def move_later(god, block, later):
    await god.execute(
        "update audit_log set xid = $3 where id = (select id from audit_log where xid >= $1 and xid < $2 limit 1)",
        block.from_xid, block.until_xid, later.from_xid,
    )  # fmt: skip


def block_edit(what):
    async def do(god, block, _later):
        await god.execute(f"update audit_block set {what} where number = {block.number}")

    return do


async def delete_block(god, block, _later):
    await god.execute(f"delete from audit_block where number = {block.number}")


async def swap_blocks(god, block, later):
    await god.execute(f"update audit_block set number = 1000000 where number = {block.number}")
    await god.execute(f"update audit_block set number = {block.number} where number = {later.number}")
    await god.execute(f"update audit_block set number = {later.number} where number = 1000000")


async def swap_digests(god, block, _later):
    """The block admits to the changed rows, but its hash does not."""
    await edit(EDITS["actor"])(god, block, None)
    await god.execute(f"update audit_block set digest = sha256('x') where number = {block.number}")


TRICKS = {
    **{f"edit {name}": edit(what) for name, what in EDITS.items()},
    "delete a row": delete_row,
    "delete all rows of a block": delete_rows,
    "insert a row": insert_row,
    "swap two rows": swap_rows,
    "swap with a later block": swap_with_later,
    "move to a later block": move_later,
    "fewer entries": block_edit("entries = entries - 1"),
    "another digest": block_edit("digest = sha256('x')"),
    "another hash": block_edit("hash = sha256('x')"),
    "another predecessor": block_edit("previous = sha256('x')"),
    "another time": block_edit("sealed_at = sealed_at - interval '1 us'"),
    "another range": block_edit("until_xid = until_xid - 1"),
    "delete a block": delete_block,
    "swap two blocks": swap_blocks,
    "rows and digest": swap_digests,
}


@pytest.fixture
async def log(store):
    cell = store.cells[0]
    await filled(cell, ROWS)
    assert await fault_of(cell) is None
    return cell


async def _tried(cell, trick, dice):
    async with cell.statement() as tx:
        known = await blocks.page(tx, 0, 10**9, 1000)
    block = dice.choice(known[:-1])
    later = dice.choice(known[block.number :])
    async with trying(cell) as (god, seen):
        await trick(god, block, later)
        found = await fault_of(seen)
    return block.number, found


async def test_every_trick_among_ten_thousand_rows_is_found_and_its_block_named(log):
    dice = random.Random(8)
    for name, trick in TRICKS.items():
        number, found = await _tried(log, trick, dice)
        assert found is not None, name
        assert found.number == number, (name, found)
    assert await fault_of(log) is None


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_a_thousand_tricks_anywhere_are_found(log):
    dice = random.Random(9)
    for _ in range(1000):
        name = dice.choice(list(TRICKS))
        number, found = await _tried(log, TRICKS[name], dice)
        assert found is not None, name
        assert found.number == number, (name, found)


async def test_a_tail_that_is_cut_off_and_a_chain_that_is_made_anew_are_told_by_the_anchor(store):
    cell = store.cells[0]
    await filled(cell, 500, each=50)
    anchors = await service.anchors([cell])
    await filled(cell, 100, each=50)
    assert await fault_of(cell, anchors) is None
    async with cell.statement() as tx:
        known = await blocks.page(tx, 0, 100, 100)

    async with trying(cell) as (god, seen):
        await god.execute(f"delete from audit_log where xid >= {known[7].from_xid}")
        await god.execute("delete from audit_block where number >= 8")
        assert await fault_of(seen) is None  # the chain that is left is whole
        found = await fault_of(seen, anchors)
        assert (found.number, "ends before it" in found.what) == (8, True)

    async with trying(cell) as (god, seen):  # everything from the third block on, with hashes that fit
        await god.execute(f"delete from audit_log where xid >= {known[2].from_xid} and xid < {known[2].until_xid}")
        before = known[1].hash
        for number, block in enumerate(known[2:]):
            empty = block._replace(entries=0, digest=sha256().digest()) if number == 0 else block
            forged = empty._replace(previous=before)
            before = hash_of("cell-0", forged)
            await god.execute(
                "update audit_block set entries = $2, digest = $3, previous = $4, hash = $5 where number = $1",
                block.number, forged.entries, forged.digest, forged.previous, before,
            )  # fmt: skip
        assert await fault_of(seen) is None
        found = await fault_of(seen, anchors)
        assert (found.number, "made anew" in found.what) == (10, True)

    async with trying(cell) as (god, seen):  # the beginning, as if its time were over
        await god.execute(f"delete from audit_log where xid < {known[9].until_xid}")
        await god.execute("delete from audit_block where number <= 10")
        await god.execute(
            "update audit_checkpoint set number = 10, until_xid = $1, hash = $2", known[9].until_xid, known[9].hash
        )
        assert await fault_of(seen) is None
        found = await fault_of(seen, anchors)
        assert (found.number, found.what) == (10, "it was dropped before its time")
    assert await fault_of(cell, anchors) is None
