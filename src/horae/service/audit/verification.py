"""Verifies the hash chain of the audit log: every audit block, every audit row and the anchors, in little memory.

Rows and blocks are read in the same order, page by page, while new blocks are appended. The verification ends at the
block that was the last one when it began.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.audit.anchors import Anchor, find_missing_blocks
from horae.domain.audit.blocks import AuditRow, Block, Fault, Link, encode_row, wrong_link, wrong_rows
from horae.service.context import Context
from horae.store.audit import blocks
from horae.store.audit.blocks import Head, UnchainedEntries
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx

__all__ = ["ChainExpectation", "ChainVerdict", "Head", "anchors", "heads", "verify"]

PAGE: Final = 1000
"""Rows, or blocks, per page."""
TRIES: Final = 5
"""How often a verification is repeated because blocks were dropped during it."""
MOST_COUNTED: Final = 100_000
"""Rows without a block that are counted at most."""
BEGINNING: Final = (-1, UUID(int=0))
"""A position (transaction, id) before every audit row."""
Progress = Callable[[int, int], None]
"""Called with the number of verified blocks and the number of all blocks."""


class ChainVerdict(NamedTuple):
    """The result for one cell. `fault` is the first bad block; None where there is none."""

    cell: str
    blocks: int
    entries: int
    anchors: int
    dropped: int
    head: Link
    fault: Fault | None
    unchained: UnchainedEntries


class ChainExpectation(NamedTuple):
    """What a cell is verified against: anchors, and the time `oldest`. Blocks after it must not be dropped."""

    anchors: Sequence[Anchor] = ()
    oldest: datetime | None = None


async def heads(ctx: Context) -> list[Head]:
    """Returns the head of the chain of every cell."""
    return await ctx.ask_each(blocks.head)


async def anchors(cells: Sequence[CellProtocol]) -> list[Anchor]:
    """Returns the heads of cells as anchors. A cell without a block, or that is down, has none."""

    async def look(tx: Tx) -> Anchor | None:
        head = await blocks.head(tx)
        if head.last is None:
            return None
        return Anchor(tx.now, head.cell, head.last.number, head.last.hash.hex())

    found = (await ask_each(cells, partial(ask_by_statement, look))).found
    return [anchor for anchor in found.values() if anchor is not None]


async def verify(
    cell: CellProtocol, expected: ChainExpectation, progress: Progress = lambda _done, _total: None
) -> ChainVerdict:
    """Verify the whole chain of a cell. A fault is checked again if blocks were dropped during the verification."""
    for _ in range(TRIES):
        verdict = await _verify(cell, expected, progress)
        async with cell.statement() as tx:
            dropped = (await blocks.head(tx)).dropped.number
        if verdict.fault is None or verdict.dropped == dropped:
            break
    return verdict


async def _verify(cell: CellProtocol, expected: ChainExpectation, progress: Progress) -> ChainVerdict:
    async with cell.statement() as tx:
        head = await blocks.head(tx)
        unchained = await blocks.unchained(tx, head.link.until_xid, MOST_COUNTED)
    known = [anchor for anchor in expected.anchors if anchor.cell == head.cell]
    walk = _ChainWalk(cell, head, known)
    fault = await walk.to_the_end(progress)
    if fault is None and expected.oldest is not None:
        fault = find_missing_blocks(head.cell, known, head.dropped, head.link.number, expected.oldest)
    return ChainVerdict(
        head.cell, walk.blocks, walk.entries, walk.anchored, head.dropped.number, head.link, fault, unchained
    )


class _ChainWalk:
    """One pass over a chain."""

    def __init__(self, cell: CellProtocol, head: Head, anchors: Sequence[Anchor]) -> None:
        self.blocks = self.entries = self.anchored = 0
        self._cell, self._head = cell, head
        self._at = head.dropped
        self._rows = _Rows(cell, head.link.until_xid)
        self._anchors: dict[int, list[Anchor]] = {}
        self._agreed = 0
        for anchor in anchors:
            self._anchors.setdefault(anchor.number, []).append(anchor)

    async def to_the_end(self, progress: Progress) -> Fault | None:
        """Returns the first fault; None where there is none.

        1. There must be no rows before the checkpoint, because they were dropped with their blocks.
        2. Each block must follow the one before it, and its hash must be its own.
        3. The rows of a block must have its count and its digest.
        4. Each anchor of the block must have the same hash.
        """
        if await self._rows.digest(self._at.until_xid) != (0, sha256().digest()):
            return self._fault(self._at.number, "rows that were dropped with it are there again")
        first, last = self._at.number, self._head.link.number
        while self._at.number < last:
            async with self._cell.statement() as tx:
                page = await blocks.page(tx, self._at.number, last, PAGE)
            if not page:
                return self._fault(self._at.number + 1, f"blocks up to {last} are missing")
            for block in page:
                what = await self._wrong(block)
                if what is not None:
                    return self._fault(self._at.number + 1, what)
                self._at = Link(block.number, block.until_xid, block.hash)
            progress(self._at.number - first, last - first)
        return None

    async def _wrong(self, block: Block) -> str | None:
        what = wrong_link(self._head.cell, self._at, block)
        if what is not None:
            return what
        entries, digest = await self._rows.digest(block.until_xid)
        self.blocks, self.entries = self.blocks + 1, self.entries + entries
        return wrong_rows(block, entries, digest) or self._wrong_anchor(block)

    def _wrong_anchor(self, block: Block) -> str | None:
        for anchor in self._anchors.get(block.number, ()):
            if anchor.hash != block.hash.hex():
                return (
                    f"it is not the block that was anchored on {anchor.at:%Y-%m-%d %H:%M}: the chain was made anew "
                    f"somewhere after block {self._agreed}"
                )
            self.anchored, self._agreed = self.anchored + 1, block.number
        return None

    def _fault(self, number: int, what: str) -> Fault:
        return Fault(self._head.cell, number, what)


class _Rows:
    """All audit rows of a cell in chain order, a page at a time."""

    def __init__(self, cell: CellProtocol, until_xid: int) -> None:
        self._cell = cell
        self._until = until_xid
        self._page: list[AuditRow] = []
        self._next = 0
        self._after = BEGINNING
        self._ended = False

    async def digest(self, until_xid: int) -> tuple[int, bytes]:
        """Returns how many of the next rows are below a transaction, and their digest."""
        count, found = 0, sha256()
        while (row := await self._peek()) is not None and row.xid < until_xid:
            found.update(encode_row(row))
            count += 1
            self._next += 1
        return count, found.digest()

    async def _peek(self) -> AuditRow | None:
        if self._next == len(self._page) and not self._ended:
            async with self._cell.statement() as tx:
                self._page = list(await blocks.entries(tx, self._after, self._until, PAGE))
            self._next = 0
            self._ended = not self._page
            if self._page:
                self._after = (self._page[-1].xid, self._page[-1].id)
        return self._page[self._next] if self._next < len(self._page) else None
