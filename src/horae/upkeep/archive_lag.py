"""Why days that have ended are not archived yet, as the node that measures a cell sees it."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from horae.domain.health.growth import ArchiveLag, DaySize, LagReason
from horae.store.databases import archived_days, days
from horae.store.databases.archived_days import ArchivedDay, ArchiveState
from horae.store.databases.days import HISTORY, Day, DayState, Reader

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection


async def archive_lag(
    connection: "Connection", now: datetime, sizes: Sequence[DaySize], failure: str
) -> ArchiveLag | None:
    """The days with rows that have ended and are not archived; None if there are none."""
    known = await archived_days.listing(connection)
    ended = [one.day for one in sizes if one.bytes and _day(one.day).end <= now]
    waiting = [day for day in ended if day not in known or known[day].state == ArchiveState.CLOSING]
    if not waiting:
        return None
    oldest = min(waiting)
    unread = _unread(await days.readers(connection), oldest)
    return ArchiveLag(len(waiting), oldest, _reason(known, oldest, unread, failure), unread, failure)


def _reason(known: Mapping[date, ArchivedDay], oldest: date, unread: Sequence[str], failure: str) -> LagReason:
    """Why the oldest day waits; what stops all days comes first."""
    if failure:
        return LagReason.FAILED
    if oldest in known and not known[oldest].is_closed:
        return LagReason.OPEN_TRANSACTIONS
    return LagReason.UNREAD if unread else LagReason.DUE


def _unread(readers: Sequence[Reader], day: date) -> tuple[str, ...]:
    end = _day(day).end
    return tuple(sorted({reader.name for reader in readers if reader.sent_until < end}))


def _day(day: date) -> Day:
    return Day(HISTORY, day, DayState.ATTACHED, 0)
