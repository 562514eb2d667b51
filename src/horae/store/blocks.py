"""The sealed blocks of a cell's audit log, and the checkpoint behind which they were dropped."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.blocks import Block, Link, Sealable
from horae.store.statements import sql
from horae.store.tx import Tx


class Head(NamedTuple):
    """Where a chain begins and ends: what was dropped, and the last block, None where nothing was sealed yet."""

    cell: str
    dropped: Link
    last: Block | None

    @property
    def link(self) -> Link:
        """What the next block will follow."""
        last = self.last
        return self.dropped if last is None else Link(last.number, last.until_xid, last.hash)


class Unsealed(NamedTuple):
    """What waits for its block."""

    entries: int
    since: datetime | None


async def seal(tx: Tx, heartbeat: datetime, most: int) -> Block | None:
    """Seal what happened since the last block; None when there is nothing, and that block is younger than `heartbeat`.

    Only what can no longer change is sealed: rows of transactions below all that are still under way.
    """
    row = await tx.row(sql("blocks/seal"), tx.now, heartbeat, most)
    return None if row is None else Block(*row)


async def head(tx: Tx) -> Head:
    """Where the chain begins and ends."""
    row = await tx.row(sql("blocks/head"))
    assert row is not None
    return Head(row["cell"], Link(*row[1:4]), None if row["number"] is None else Block(*row[4:]))


async def page(tx: Tx, after: int, until: int, limit: int) -> list[Block]:
    """Blocks after a number, up to another."""
    return [Block(*row) for row in await tx.rows(sql("blocks/page"), after, until, limit)]


async def entries(tx: Tx, after: tuple[int, UUID], until_xid: int, limit: int) -> Sequence[Sealable]:
    """Audit rows in the order of their seal, below a transaction."""
    return [Sealable(*row) for row in await tx.rows(sql("blocks/entries"), *after, until_xid, limit)]


async def unsealed(tx: Tx, from_xid: int, most: int) -> Unsealed:
    """How many rows wait for their block, counted up to a bound."""
    row = await tx.row(sql("blocks/unsealed"), from_xid, most)
    assert row is not None
    return Unsealed(*row)


async def expire(tx: Tx, before: datetime, most: int, entries: int) -> Link | None:
    """Move the checkpoint over blocks that were sealed before a time, a few of them; None when there is none."""
    row = await tx.row(sql("blocks/expire"), before, most, entries)
    return None if row is None else Link(row["number"], row["until_xid"], b"")


async def forget_entries(tx: Tx, until_xid: int) -> int:
    """Take away the rows behind the checkpoint; returns how many went."""
    return len(await tx.rows(sql("blocks/forget_entries"), until_xid))


async def forget_blocks(tx: Tx, number: int) -> int:
    """Take away the blocks behind the checkpoint; returns how many went."""
    return len(await tx.rows(sql("blocks/forget_blocks"), number))
