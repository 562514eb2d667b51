"""Days of history, events, results and logs: their partitions are detached and dropped whole, never row by row.

`DETACH … CONCURRENTLY` takes no lock that readers or writers conflict with. It waits for those that use the partition,
so it needs a connection without a transaction, and may end half done: then `finish_detach` completes it.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection

HISTORY: Final = "instance_history"
EVENTS: Final = "outbox"
RESULTS: Final = "instance_result"
LOGS: Final = "log_batch"


class DayState(StrEnum):
    """Whether the table of a day belongs to its parent."""

    ATTACHED = "ATTACHED"
    DETACHING = "DETACHING"
    DETACHED = "DETACHED"


class Day(NamedTuple):
    """The table of one day."""

    parent: str
    day: date
    state: DayState
    bytes: int

    @property
    def partition(self) -> str:
        """The name of the table."""
        return f"{self.parent}_{self.day:%Y%m%d}"

    @property
    def begin(self) -> datetime:
        """The first moment of the day."""
        return datetime.combine(self.day, time(), UTC)

    @property
    def end(self) -> datetime:
        """The first moment after the day."""
        return self.begin + timedelta(days=1)


class Reader(NamedTuple):
    """A subscription, and the time before which it has been sent everything."""

    tenant_id: UUID
    name: str
    sent_until: datetime


async def lock(connection: "Connection") -> bool:
    """Whether this session may drop days now: one does at a time."""
    return bool(await connection.fetchval(sql("databases/days/lock")))


async def listing(connection: "Connection") -> list[Day]:
    """The days that have a table; those that are being detached first, then by age."""
    rows = await connection.fetch(sql("databases/days/listing"))
    return [Day(row["parent"], row["day"], DayState(row["state"]), row["bytes"]) for row in rows]


async def readers(connection: "Connection") -> list[Reader]:
    """The subscriptions that read days."""
    return [Reader(*row) for row in await connection.fetch(sql("databases/days/readers"))]


async def unrelayed(connection: "Connection", since: datetime, until: datetime) -> int:
    """How many compensations that were requested between two times have not been relayed."""
    return int(await connection.fetchval(sql("databases/days/unrelayed"), since, until))


async def mark(connection: "Connection", day: Day) -> None:
    """Mark a table as ours to drop, before it is detached."""
    await connection.execute(sql("databases/days/mark").format(partition=day.partition))


async def detach(connection: "Connection", day: Day, timeout_s: float) -> None:
    """Detach a day. Raises TimeoutError when transactions use it for longer; then it is half done."""
    statement = sql("databases/days/detach").format(parent=day.parent, partition=day.partition)
    await connection.execute(statement, timeout=timeout_s)


async def finish_detach(connection: "Connection", day: Day, timeout_s: float) -> None:
    """Complete the detachment of a day that was half done. Raises as `detach` does."""
    statement = sql("databases/days/finish_detach").format(parent=day.parent, partition=day.partition)
    await connection.execute(statement, timeout=timeout_s)


async def drop(connection: "Connection", day: Day) -> None:
    """Drop the table of a detached day."""
    await connection.execute(sql("databases/days/drop").format(partition=day.partition))


async def record_drop(connection: "Connection", now: datetime, day: Day) -> None:
    """Record that a day is dropped."""
    await connection.execute(sql("databases/days/record_drop"), now, day.end.date(), day.parent)


async def dropped_until(tx: Tx, parents: Sequence[str]) -> datetime | None:
    """The time before which rows of a table were dropped, the latest of some tables; None while nothing was dropped."""
    first = await tx.value(sql("databases/days/dropped_until"), parents)
    return datetime.combine(first, time(), UTC) if isinstance(first, date) else None


class HotDay(NamedTuple):
    """A day of history or events whose rows are in this cell alone."""

    parent: str
    day: date


async def hot(tx: Tx) -> list[HotDay]:
    """The days whose rows would be lost with this cell, the oldest first."""
    return [HotDay(*row) for row in await tx.rows(sql("databases/days/hot"))]
