"""Blocks of the audit log: how a row becomes bytes, and how blocks form a hash chain.

A block's `digest` covers its rows in the order of (transaction, id). Its `hash` covers the block and the hash of the
block before. So a row that is changed, removed, added or moved changes a digest. To hide that, every later block must
be computed again, and then its hash differs from the anchor that was kept elsewhere.
"""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
NOTHING: Final = bytes(32)
"""The hash before the first block."""


class AuditRow(NamedTuple):
    """An audit row as it enters a block; `detail` is PostgreSQL's text of its jsonb."""

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
    """One audit block: the rows of the transactions from `from_xid` on and below `until_xid`."""

    number: int
    sealed_at: datetime
    from_xid: int
    until_xid: int
    entries: int
    digest: bytes
    previous: bytes
    hash: bytes


class Link(NamedTuple):
    """What the next block must follow: the block before it, or the checkpoint after dropped blocks."""

    number: int
    until_xid: int
    hash: bytes


class Fault(NamedTuple):
    """The first block of a cell that fails the check, and what is wrong with it."""

    cell: str
    number: int
    what: str


def encode_row(row: AuditRow) -> bytes:
    """Return a row as bytes that no other row has: the lengths of its texts come first."""
    texts = [text.encode() for text in row[5:]]
    head = (row.xid, micros(row.at), row.shard_id, row.id, row.tenant_id, *map(len, texts))
    return " ".join(map(str, head)).encode() + b"\n" + b"".join(texts) + b"\n"


def hash_of(cell: str, block: Block) -> bytes:
    """Return the hash that a block must have. It covers the cell's name, so that chains cannot be exchanged."""
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
    """Return why a block cannot follow another one, or None."""
    if block.number != before.number + 1:
        return f"blocks {before.number + 1} to {block.number - 1} are missing"
    if block.previous != before.hash or block.from_xid != before.until_xid:
        return "it does not follow the block before it"
    if block.hash != hash_of(cell, block):
        return "the block itself was changed: its hash is not its own"
    return None


def wrong_rows(block: Block, entries: int, digest: bytes) -> str | None:
    """Return why rows are not those of the block, or None."""
    if entries != block.entries:
        return f"{block.entries} rows were chained, {entries} are there"
    if digest != block.digest:
        return "a row was changed, replaced or put in another order"
    return None


def micros(at: datetime) -> int:
    """Return a time as microseconds since 1970."""
    return (at - EPOCH) // MICROSECOND
