"""Sealed blocks of the audit log: how a row is written down for its seal, and what makes a chain.

A block's `digest` is over its rows in the order of (transaction, id), its `hash` over the block itself with the hash of
the block before it. So whatever is changed, taken away, added or put elsewhere changes a digest, and whoever makes that
fit has to make every later block anew, which the heads that were anchored elsewhere tell.
"""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
NOTHING: Final = bytes(32)
"""What stands before the first block."""


class Sealable(NamedTuple):
    """An audit row as it is sealed; `detail` is the text PostgreSQL makes of its jsonb."""

    xid: int
    at: datetime
    shard_id: int
    id: UUID
    tenant_id: UUID
    actor: str
    action: str
    resource: str
    detail: str


class Block(NamedTuple):
    """One sealed block: the rows of the transactions from `from_xid` on and below `until_xid`."""

    number: int
    sealed_at: datetime
    from_xid: int
    until_xid: int
    entries: int
    digest: bytes
    previous: bytes
    hash: bytes


class Link(NamedTuple):
    """What the next block has to begin with: the block before it, or the checkpoint behind which all was dropped."""

    number: int
    until_xid: int
    hash: bytes


class Fault(NamedTuple):
    """The first block of a cell that is not as it was sealed, and what is wrong with it."""

    cell: str
    number: int
    what: str


def written(row: Sealable) -> bytes:
    """A row as bytes that mean this row and no other: the lengths of its texts stand before them."""
    texts = [text.encode() for text in row[5:]]
    head = (row.xid, micros(row.at), row.shard_id, row.id, row.tenant_id, *map(len, texts))
    return " ".join(map(str, head)).encode() + b"\n" + b"".join(texts) + b"\n"


def hash_of(cell: str, block: Block) -> bytes:
    """The hash a block must have: it names the cell, so that no cell's chain passes for another's."""
    said = (
        "horae audit block",
        cell,
        block.number,
        micros(block.sealed_at),
        block.from_xid,
        block.until_xid,
        block.entries,
        block.digest.hex(),
        block.previous.hex(),
    )
    return sha256(" ".join(map(str, said)).encode()).digest()


def wrong_link(cell: str, before: Link, block: Block) -> str | None:
    """Why a block cannot follow another one, or None."""
    if block.number != before.number + 1:
        return f"blocks {before.number + 1} to {block.number - 1} are missing"
    if block.previous != before.hash or block.from_xid != before.until_xid:
        return "it does not follow the block before it"
    if block.hash != hash_of(cell, block):
        return "the block itself was changed: its hash is not its own"
    return None


def wrong_rows(block: Block, entries: int, digest: bytes) -> str | None:
    """Why rows are not those that were sealed, or None."""
    if entries != block.entries:
        return f"{block.entries} rows were sealed, {entries} are there"
    if digest != block.digest:
        return "a row was changed, replaced or put in another order"
    return None


def micros(at: datetime) -> int:
    """A time as microseconds since 1970."""
    return (at - EPOCH) // MICROSECOND
