"""The audit log, verified: every block, every row, and what was anchored elsewhere, in little memory.

Rows and blocks are read side by side in their order, in pages, while sealing goes on: up to the block that was the last
one when we began.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.anchors import Anchor, lost
from horae.domain.blocks import Block, Fault, Link, Sealable, written, wrong_link, wrong_rows
from horae.service.context import Context
from horae.store import blocks
from horae.store.blocks import Head, Unsealed
from horae.store.cells import Cell
from horae.store.each import ask_by_statement, ask_each
from horae.store.tx import Tx

__all__ = ["Expected", "Head", "Verdict", "anchors", "heads", "verify"]

PAGE: Final = 1000
TRIES: Final = 5
MOST_COUNTED: Final = 100_000
BEGINNING: Final = (-1, UUID(int=0))
Progress = Callable[[int, int], None]
"""Hears how many blocks are done, of how many."""


class Verdict(NamedTuple):
    """What came of it in one cell; `fault` is the first bad block, None when there is none."""

    cell: str
    blocks: int
    entries: int
    anchors: int
    dropped: int
    head: Link
    fault: Fault | None
    unsealed: Unsealed


class Expected(NamedTuple):
    """What we hold against a cell: anchors, and the age before which nothing may have been dropped."""

    anchors: Sequence[Anchor] = ()
    oldest: datetime | None = None


async def heads(ctx: Context) -> list[Head]:
    """Where the chain of every cell stands."""
    return await ctx.ask_each(blocks.head)


async def anchors(cells: Sequence[Cell]) -> list[Anchor]:
    """The heads of cells as they are noted elsewhere; one where nothing was sealed yet, or that is down, has none."""

    async def look(tx: Tx) -> Anchor | None:
        head = await blocks.head(tx)
        if head.last is None:
            return None
        return Anchor(tx.now, head.cell, head.last.number, head.last.hash.hex())

    found = (await ask_each(cells, partial(ask_by_statement, look))).found
    return [anchor for anchor in found.values() if anchor is not None]


async def verify(cell: Cell, expected: Expected, progress: Progress = lambda _done, _total: None) -> Verdict:
    """Read everything that was sealed in a cell; where blocks were dropped meanwhile, again."""
    for _ in range(TRIES):
        verdict = await _verify(cell, expected, progress)
        async with cell.statement() as tx:
            dropped = (await blocks.head(tx)).dropped.number
        if verdict.fault is None or verdict.dropped == dropped:
            break
    return verdict


async def _verify(cell: Cell, expected: Expected, progress: Progress) -> Verdict:
    async with cell.statement() as tx:
        head = await blocks.head(tx)
        unsealed = await blocks.unsealed(tx, head.link.until_xid, MOST_COUNTED)
    known = [anchor for anchor in expected.anchors if anchor.cell == head.cell]
    walk = _Walk(cell, head, known)
    fault = await walk.to_the_end(progress)
    if fault is None and expected.oldest is not None:
        fault = lost(head.cell, known, head.dropped, head.link.number, expected.oldest)
    return Verdict(head.cell, walk.blocks, walk.entries, walk.anchored, head.dropped.number, head.link, fault, unsealed)


class _Walk:
    """One way through a chain."""

    def __init__(self, cell: Cell, head: Head, anchors: Sequence[Anchor]) -> None:
        self.blocks = self.entries = self.anchored = 0
        self._cell, self._head = cell, head
        self._at = head.dropped
        self._rows = _Rows(cell, head.link.until_xid)
        self._anchors: dict[int, list[Anchor]] = {}
        self._agreed = 0
        for anchor in anchors:
            self._anchors.setdefault(anchor.number, []).append(anchor)

    async def to_the_end(self, progress: Progress) -> Fault | None:
        """The first fault, or None."""
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
    """All rows of a cell in the order of their seal, a page at a time."""

    def __init__(self, cell: Cell, until_xid: int) -> None:
        self._cell = cell
        self._until = until_xid
        self._page: list[Sealable] = []
        self._next = 0
        self._after = BEGINNING
        self._ended = False

    async def digest(self, until_xid: int) -> tuple[int, bytes]:
        """How many of the next rows lie below a transaction, and the digest of those."""
        count, found = 0, sha256()
        while (row := await self._peek()) is not None and row.xid < until_xid:
            found.update(written(row))
            count += 1
            self._next += 1
        return count, found.digest()

    async def _peek(self) -> Sealable | None:
        if self._next == len(self._page) and not self._ended:
            async with self._cell.statement() as tx:
                self._page = list(await blocks.entries(tx, self._after, self._until, PAGE))
            self._next = 0
            self._ended = not self._page
            if self._page:
                self._after = (self._page[-1].xid, self._page[-1].id)
        return self._page[self._next] if self._next < len(self._page) else None
