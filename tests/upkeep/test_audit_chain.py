"""Sealed blocks: each row in exactly one, whatever commits when; nothing is changed, and what is old goes whole."""

import asyncio
import random
from datetime import timedelta

import asyncpg
import pytest

from horae.delivery.client import Client
from horae.domain.audit.blocks import NOTHING
from horae.service.audit import verification
from horae.service.audit.verification import ChainExpectation
from horae.upkeep import audit_chain
from horae.upkeep.anchors import Anchorer, AnchorWebhook, read
from horae.upkeep.audit_chain import AuditChainer, Dropper
from tests.egress import ANYWHERE
from tests.receiver import receiving
from tests.steps import a_job, move_clock, query
from tests.upkeep.auditing import FILL, fault_of, fill, filled, seal

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


async def test_what_a_change_leaves_is_sealed_once_and_nothing_is_sealed_when_nothing_happened(ctx, store):
    await a_job(ctx, "j")
    duty = AuditChainer(store)
    assert await duty.once() == 0
    before = await query(store, "select * from audit_block")
    assert sum(block["entries"] for block in before) == len(await query(store, "select from audit_log")) > 0
    assert {block["previous"] for block in before} == {NOTHING}
    await duty.once()
    assert await query(store, "select * from audit_block") == before
    for cell in store.cells:
        assert await fault_of(cell) is None


async def test_an_empty_block_an_hour_says_that_somebody_looked(store):
    cell = store.cells[0]
    await fill(cell, 1)
    await seal(cell)
    await move_clock(store, minutes=61)
    assert (await seal(cell)).entries == 0
    assert await seal(cell) is None
    assert await fault_of(cell) is None


async def test_every_row_is_in_exactly_one_block_whatever_commits_when(store):
    """Writers hold transactions open over many seals, two sealers work at once, some transactions are given up."""
    cell, dice = store.cells[0], random.Random(5)
    sealed = asyncio.Event()
    done = asyncio.Event()

    async def write(number):
        connection = await asyncpg.connect(cell.dsn)
        await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=str, decoder=str)
        try:
            for _ in range(12):
                transaction = connection.transaction()
                await transaction.start()
                await connection.execute(FILL, dice.randrange(1, 5), _tenant())
                if number % 2:  # a long one: somebody seals meanwhile, more than once
                    for _ in range(dice.randrange(3)):
                        sealed.clear()
                        await sealed.wait()
                more = dice.randrange(1, 5)
                await connection.execute(FILL, more, _tenant())
                await (transaction.rollback() if dice.random() < 0.2 else transaction.commit())
        finally:
            await connection.close()

    async def keep_sealing():
        while not done.is_set():
            await seal(cell, most=dice.choice([3, 1000]))
            sealed.set()
            await asyncio.sleep(0)

    sealing = [asyncio.create_task(keep_sealing()) for _ in range(2)]
    await asyncio.gather(*(write(number) for number in range(8)))
    done.set()
    await asyncio.gather(*sealing)
    while await seal(cell, most=3):
        pass
    rows = await query(cell, "select xid, id from audit_log")
    found = await query(cell, "select * from audit_block order by number")
    assert [block["number"] for block in found] == list(range(1, len(found) + 1))
    for row in rows:
        assert sum(block["from_xid"] <= row["xid"] < block["until_xid"] for block in found) == 1
    assert sum(block["entries"] for block in found) == len(rows) > 100
    assert len(found) > 20
    assert await fault_of(cell) is None


def _tenant():
    return "00000000-0000-7000-8000-000000000001"


async def test_a_transaction_with_more_rows_than_a_block_has_is_sealed_whole(store, monkeypatch):
    monkeypatch.setattr(audit_chain, "MOST_ENTRIES", 10)
    cell = store.cells[0]
    for many in (4, 4, 25, 4):
        await fill(cell, many)
    assert [await AuditChainer(store).once() for _ in range(4)] == [0, 1, 0, 0]
    assert [row["entries"] for row in await query(cell, "select entries from audit_block order by number")] == [
        8,
        25,
        4,
    ]
    assert await fault_of(cell) is None


async def test_a_cell_that_is_not_ours_is_looked_at_now_and_then(store):
    await fill(store.cells[0], 1)
    duty = AuditChainer(store, lambda _: False)
    for _ in range(duty.LOOK_EVERY - 1):
        await duty.once()
    assert await query(store, "select from audit_block") == []
    await duty.once()
    assert len(await query(store.cells[0], "select from audit_block where entries = 1")) == 1


REFUSED = (
    "update audit_log set actor = 'me'",
    "delete from audit_log",
    "truncate audit_log",
    "update audit_block set entries = 0",
    "delete from audit_block",
    "truncate audit_block",
    "update audit_checkpoint set hash = sha256('x')",
    "delete from audit_checkpoint",
    "truncate audit_checkpoint",
)


async def test_not_even_the_owner_changes_what_was_audited(store):
    await filled(store.cells[0], 2, each=1)
    for statement in REFUSED:
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="stays as it is"):
            await query(store.cells[0], statement)


async def test_whole_blocks_go_after_their_time_and_the_rest_is_still_verified(store):
    cell = store.cells[0]
    await filled(cell, 60, each=20)
    anchors = await verification.anchors([cell])
    await move_clock(store, days=100)
    await filled(cell, 40, each=20)
    await move_clock(store, days=81)
    anchors += await verification.anchors([cell])
    duty = Dropper(store, timedelta(days=180))
    assert [await duty.once() for _ in range(2)] == [3, 0]
    assert len(await query(cell, "select from audit_log")) == 40
    verdict = await verification.verify(cell, ChainExpectation(anchors, cell.clock.now() - timedelta(days=180)))
    assert (verdict.fault, verdict.dropped, verdict.blocks, verdict.entries, verdict.anchors) == (None, 3, 2, 40, 1)
    await fill(cell, 5)
    assert (await seal(cell)).number == 6
    await move_clock(store, days=200)
    await duty.once()
    assert len(await query(cell, "select from audit_block")) == 1  # the last one stays: the chain goes on from it
    assert await fault_of(cell, anchors) is None


async def test_what_is_dropped_goes_in_portions(store, monkeypatch):
    monkeypatch.setattr(audit_chain, "MOST_ENTRIES", 50)
    cell = store.cells[0]
    await filled(cell, 120, each=20)
    await move_clock(store, days=181)
    duty = Dropper(store, timedelta(days=180))
    assert [await duty.once() for _ in range(3)] == [3, 2, 0]
    assert await fault_of(cell) is None


async def test_heads_are_noted_once_a_day_in_a_file_and_to_a_signed_webhook(store, tmp_path):
    file = tmp_path / "anchors"
    await filled(store.cells[0], 10, each=5)
    client = Client(ANYWHERE)
    with receiving() as receiver:
        webhook = AnchorWebhook(client, f"{receiver.url}/anchors", SECRET, store.cells[0].clock.now)
        duty = Anchorer(store, file, webhook)
        for hours in (0, 1, 24):
            await move_clock(store, hours=hours)
            await duty.once()
        assert [(one.cell, one.number) for one in read(file)] == [("cell-0", 2), ("cell-0", 2)]
        assert len(receiver.calls) == 2
        assert receiver.calls[0]["data"][0]["hash"] == read(file)[0].hash
        assert receiver.headers[0]["webhook-signature"].startswith("v1,")
        again = Anchorer(store, file, None)  # another process knows from the file
        await again.once()
        assert len(read(file)) == 2
        receiver.answers["/anchors"] = [500]
        with pytest.raises(Exception, match="did not take them"):
            await Anchorer(store, None, webhook).once()
    await client.close()
