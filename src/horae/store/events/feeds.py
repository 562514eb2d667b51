"""Events of a cell, read below the transaction horizon, and the position of each subscription in them.

Sequence numbers and times give no safe reading order: a transaction with a lower number may commit later, and a reader
that has passed it would lose its events. Below the horizon every transaction has ended. There is one position for each
block of 64 shards, and one node reads a block.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.events.cloudevents import EventRow, end_of
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx

BLOCK: Final = 64
BLOCKS: Final = range(64)


class FeedPlace(NamedTuple):
    """The position of a subscription in one block. Reading jumps from `skip_from` to `skip_to`."""

    block: int
    xid: int
    at: datetime
    skip_from: int | None
    skip_to: int | None
    revision: int
    sent: int
    moved_at: datetime
    error: str | None


class FeedMove(NamedTuple):
    """A new position of a block, and how many of its events were sent."""

    block: int
    revision: int
    xid: int
    skip_from: int | None
    skip_to: int | None
    sent: int


class Marks(NamedTuple):
    """The transactions at which a span of time begins and ends; None: the span has not ended."""

    since: int
    until: int | None


class JobFacts(NamedTuple):
    """The name and labels of a job, for its events."""

    name: str | None
    labels: dict[str, str]


async def horizon(tx: Tx) -> int:
    """The transaction id below which every transaction has ended."""
    return int(await tx.value(sql("events/feeds/horizon")))


async def begin(
    tx: Tx, channel_id: UUID, tenant_id: UUID, blocks: Sequence[int], xid: int, at: datetime | None = None
) -> None:
    """Start a subscription in blocks at transaction `xid`, with events since `at`; without it, since now.

    `xid` is the horizon that was read before, or the transaction of a time mark before `at`.
    """
    await tx.rows(sql("events/feeds/begin"), channel_id, tenant_id, blocks, xid, at or tx.now, tx.now)


async def positions(tx: Tx, channel_id: UUID, blocks: Sequence[int]) -> list[FeedPlace]:
    """The positions of a subscription in these blocks."""
    return [FeedPlace(*row) for row in await tx.rows(sql("events/feeds/positions"), channel_id, blocks)]


async def move(tx: Tx, channel_id: UUID, moves: Sequence[FeedMove], at: datetime | None) -> int:
    """Move blocks whose revision is still as read; returns how many. No event before `at` is left to send."""
    blocks, revisions, xids, froms, tos, sent = zip(*moves, strict=True)
    args = (channel_id, blocks, revisions, xids, froms, tos, at, tx.now, sent)
    return len(await tx.rows(sql("events/feeds/move"), *args))


async def fail(tx: Tx, channel_id: UUID, blocks: Sequence[int], error: str) -> None:
    """Record why a subscription sends nothing at the moment."""
    await tx.rows(sql("events/feeds/fail"), channel_id, blocks, error)


async def rewind(tx: Tx, channel_id: UUID, tenant_id: UUID, since: int, until: int | None, at: datetime) -> int:
    """Move a subscription back to transaction `since`, up to `until` or now; returns how many blocks moved."""
    return len(await tx.rows(sql("events/feeds/rewind"), channel_id, tenant_id, since, until, at))


async def forget(tx: Tx, channel_id: UUID, tenant_id: UUID) -> None:
    """Delete the positions of a removed subscription."""
    await tx.rows(sql("events/feeds/forget"), channel_id, tenant_id)


async def mark(tx: Tx) -> int | None:
    """Record the current horizon with the time, for later replays."""
    xid: int | None = await tx.value(sql("events/feeds/mark"), tx.now)
    return xid


async def transactions_between(tx: Tx, since: datetime, until: datetime) -> Marks:
    """The transactions of a span of time: all of them, and perhaps some more at both ends."""
    row = await tx.row(sql("events/feeds/transactions_between"), since, until)
    assert row is not None
    return Marks(*row)


async def forget_marks(tx: Tx, before: datetime) -> int:
    """Delete old marks; returns how many."""
    return len(await tx.rows(sql("events/feeds/forget_marks"), before))


async def page(
    tx: Tx, span: tuple[int, int], at: datetime, blocks: Sequence[int], tenant_id: UUID | None, limit: int
) -> list[EventRow]:
    """The events of a span of transactions, in order. Transactions are not split, so there may be more than `limit`."""
    rows = await tx.rows(sql("events/feeds/page"), *span, at, blocks, tenant_id, limit)
    found = [EventRow(*row) for row in rows]
    return sorted(
        [one if one.number is not None else one._replace(event=end_of(one.event)) for one in found], key=_order
    )


async def active(tx: Tx, span: tuple[int, int], at: datetime, blocks: Sequence[int]) -> list[UUID]:
    """The tenants that have events in a span of transactions."""
    return [row["tenant_id"] for row in await tx.rows(sql("events/feeds/active"), *span, at, blocks)]


def _order(one: EventRow) -> tuple[object, ...]:
    """By transaction. Within one, ended instances come first, by fire time; then the others as they were written."""
    if one.number is not None:
        return one.xid, one.number
    return one.xid, -1, one.body["fire_time"], one.body["generation"] or 0, one.instance_id


async def jobs(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, JobFacts]:
    """The names and labels of jobs."""
    rows = await tx.rows(sql("events/feeds/jobs"), [shard_in(id_) for id_ in ids], ids)
    return {row["id"]: JobFacts(row["name"], row["labels"]) for row in rows}


async def wide(tx: Tx) -> None:
    """Allow bitmap scans in this transaction, which BRIN page summaries need."""
    await tx.value(sql("events/feeds/wide"))


async def partitions(tx: Tx, days: Sequence[str]) -> list[tuple[str, int]]:
    """The BRIN page summaries of some days (`20261115`), with the number of pages."""
    return [(row["summary"], row["pages"]) for row in await tx.rows(sql("events/feeds/partitions"), days)]


async def summarize(tx: Tx, summary: str, first: int, last: int) -> int:
    """Summarise the page ranges from `first` to `last`; returns how many were not summarised yet."""
    return int(await tx.value(sql("events/feeds/summarize"), summary, first, last))
