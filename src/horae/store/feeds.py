"""What happened in a cell, read below the horizon of transactions, and how far each subscription was told of it.

Numbers and times are no order to read events by: a later one may be committed first, and what is passed over is lost.
Below the horizon every transaction has ended. A place is kept for each block of 64 shards, which one node looks after.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.cloudevents import Happened, end_of
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx

BLOCK: Final = 64
BLOCKS: Final = range(64)


class Place(NamedTuple):
    """How far a block was told. From `skip_from` on it goes on at `skip_to`."""

    block: int
    xid: int
    at: datetime
    skip_from: int | None
    skip_to: int | None
    revision: int
    sent: int
    moved_at: datetime
    error: str | None


class Move(NamedTuple):
    """Where a block stands now, and how many events of it were told on the way."""

    block: int
    revision: int
    xid: int
    skip_from: int | None
    skip_to: int | None
    sent: int


class Marks(NamedTuple):
    """Where a span of time begins and ends in transactions; None: it has not ended."""

    since: int
    until: int | None


class About(NamedTuple):
    """What is told of a job beside its id."""

    name: str | None
    labels: dict[str, str]


async def horizon(tx: Tx) -> int:
    """Below this every transaction has ended."""
    return int(await tx.value(sql("feeds/horizon")))


async def begin(tx: Tx, channel_id: UUID, tenant_id: UUID, blocks: Sequence[int], xid: int) -> None:
    """Tell what happens in blocks from now on; `xid` is the horizon, read before."""
    await tx.rows(sql("feeds/begin"), channel_id, tenant_id, blocks, xid, tx.now, tx.now)


async def positions(tx: Tx, channel_id: UUID, blocks: Sequence[int]) -> list[Place]:
    """How far these blocks were told."""
    return [Place(*row) for row in await tx.rows(sql("feeds/positions"), channel_id, blocks)]


async def move(tx: Tx, channel_id: UUID, moves: Sequence[Move], at: datetime | None) -> int:
    """Remember how far blocks were told, and that nothing before `at` is left; returns how many stood where read."""
    blocks, revisions, xids, froms, tos, sent = zip(*moves, strict=True)
    args = (channel_id, blocks, revisions, xids, froms, tos, at, tx.now, sent)
    return len(await tx.rows(sql("feeds/move"), *args))


async def fail(tx: Tx, channel_id: UUID, blocks: Sequence[int], error: str) -> None:
    """Remember why nothing is told now."""
    await tx.rows(sql("feeds/fail"), channel_id, blocks, error)


async def rewind(tx: Tx, channel_id: UUID, tenant_id: UUID, since: int, until: int | None, at: datetime) -> int:
    """Tell again what happened from one transaction up to another, or up to now; returns how many blocks go back."""
    return len(await tx.rows(sql("feeds/rewind"), channel_id, tenant_id, since, until, at))


async def forget(tx: Tx, channel_id: UUID, tenant_id: UUID) -> None:
    """Nobody is told any more."""
    await tx.rows(sql("feeds/forget"), channel_id, tenant_id)


async def mark(tx: Tx) -> int | None:
    """Note which transactions have ended by now."""
    xid: int | None = await tx.value(sql("feeds/mark"), tx.now)
    return xid


async def marked(tx: Tx, since: datetime, until: datetime) -> Marks:
    """Which transactions a span of time means: all of it, and perhaps a little more."""
    row = await tx.row(sql("feeds/marked"), since, until)
    assert row is not None
    return Marks(*row)


async def forget_marks(tx: Tx, before: datetime) -> int:
    """Take old marks away; returns how many went."""
    return len(await tx.rows(sql("feeds/forget_marks"), before))


async def page(
    tx: Tx, span: tuple[int, int], at: datetime, blocks: Sequence[int], tenant_id: UUID | None, limit: int
) -> list[Happened]:
    """What happened in a span of transactions, in their order: at least `limit` where there is so much."""
    rows = await tx.rows(sql("feeds/page"), *span, at, blocks, tenant_id, limit)
    found = [Happened(*row) for row in rows]
    return sorted(
        [one if one.number is not None else one._replace(event=end_of(one.event)) for one in found], key=_order
    )


async def active(tx: Tx, span: tuple[int, int], at: datetime, blocks: Sequence[int]) -> list[UUID]:
    """The tenants to which anything happened in a span of transactions."""
    return [row["tenant_id"] for row in await tx.rows(sql("feeds/active"), *span, at, blocks)]


def _order(one: Happened) -> tuple[object, ...]:
    """Transaction by transaction; within one first what ended, by when it should have run, then the rest as written."""
    if one.number is not None:
        return one.xid, one.number
    return one.xid, -1, one.body["fire_time"], one.body["generation"] or 0, one.instance_id


async def jobs(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, About]:
    """Names and labels of jobs."""
    rows = await tx.rows(sql("feeds/jobs"), [shard_in(id_) for id_ in ids], ids)
    return {row["id"]: About(row["name"], row["labels"]) for row in rows}


async def wide(tx: Tx) -> None:
    """Let this transaction read by summaries of pages."""
    await tx.value(sql("feeds/wide"))


async def partitions(tx: Tx, days: Sequence[str]) -> list[tuple[str, int]]:
    """The page summaries of some days (`20261115`), with how many pages there are."""
    return [(row["summary"], row["pages"]) for row in await tx.rows(sql("feeds/partitions"), days)]


async def summarize(tx: Tx, summary: str, first: int, last: int) -> int:
    """Summarise the ranges of pages from `first` to `last`; returns how many were not yet."""
    return int(await tx.value(sql("feeds/summarize"), summary, first, last))
