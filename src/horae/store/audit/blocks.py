"""The hash chain of a cell's audit log: its blocks, and the checkpoint before which blocks were dropped."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.audit.blocks import AuditRow, Block, Link
from horae.store.statements import sql
from horae.store.tx import Tx


class Head(NamedTuple):
    """The beginning and end of the chain: the checkpoint, and the last block, None if there is none yet."""

    cell: str
    dropped: Link
    last: Block | None

    @property
    def link(self) -> Link:
        """The link that the next block will follow."""
        last = self.last
        return self.dropped if last is None else Link(last.number, last.until_xid, last.hash)


class UnchainedEntries(NamedTuple):
    """Audit rows that are not in a block yet."""

    entries: int
    since: datetime | None


async def append(tx: Tx, heartbeat: datetime, most: int) -> Block | None:
    """Chain the audit rows since the last block in a new block.

    None when there are no rows and the last block is newer than `heartbeat`. Only rows that can no longer change are
    included: those of transactions below every running one.
    """
    row = await tx.row(sql("audit/blocks/append"), tx.now, heartbeat, most)
    return None if row is None else Block(*row)


async def head(tx: Tx) -> Head:
    """The beginning and end of the chain."""
    row = await tx.row(sql("audit/blocks/head"))
    assert row is not None
    return Head(row["cell"], Link(*row[1:4]), None if row["number"] is None else Block(*row[4:]))


async def page(tx: Tx, after: int, until: int, limit: int) -> list[Block]:
    """Blocks after a number, up to another one."""
    return [Block(*row) for row in await tx.rows(sql("audit/blocks/page"), after, until, limit)]


async def entries(tx: Tx, after: tuple[int, UUID], until_xid: int, limit: int) -> Sequence[AuditRow]:
    """Audit rows in the order of the chain, below a transaction."""
    return [AuditRow(*row) for row in await tx.rows(sql("audit/blocks/entries"), *after, until_xid, limit)]


async def unchained(tx: Tx, from_xid: int, most: int) -> UnchainedEntries:
    """How many rows are not in a block yet, counted up to a bound."""
    row = await tx.row(sql("audit/blocks/unchained"), from_xid, most)
    assert row is not None
    return UnchainedEntries(*row)


async def expire(tx: Tx, before: datetime, most: int, entries: int) -> Link | None:
    """Move the checkpoint over a few blocks that were written before a time; None when there are none."""
    row = await tx.row(sql("audit/blocks/expire"), before, most, entries)
    return None if row is None else Link(row["number"], row["until_xid"], b"")


async def forget_entries(tx: Tx, until_xid: int) -> int:
    """Delete the audit rows before the checkpoint; returns how many."""
    return len(await tx.rows(sql("audit/blocks/forget_entries"), until_xid))


async def forget_blocks(tx: Tx, number: int) -> int:
    """Delete the blocks before the checkpoint; returns how many."""
    return len(await tx.rows(sql("audit/blocks/forget_blocks"), number))
