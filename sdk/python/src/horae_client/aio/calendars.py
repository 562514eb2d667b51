"""Calendars."""

from collections.abc import Sequence
from datetime import date

from horae_client.aio.verbs import AsyncItems, AsyncVerbs
from horae_client.asked import calendars as asked
from horae_client.models import Calendar, CalendarPreview


class AsyncCalendars(AsyncVerbs):
    """Calendars: sets of days that schedules share."""

    async def get(self, name: str) -> Calendar:
        """Get one calendar.

        >>> from datetime import date
        >>> put = await client.calendars.put("workdays", first=date(2026, 1, 1), last=date(2026, 12, 31), weekdays=[1])
        >>> days = await client.calendars.get("workdays")
        >>> days.weekdays
        [1]
        """
        return await self._ask(asked.calendar(name))

    def list(self, *, limit: int | None = None) -> AsyncItems[Calendar]:
        """List the calendars by name.

        >>> [one.name async for one in client.calendars.list()]
        []
        """
        return self._pages(asked.calendars(), limit)

    async def put(
        self,
        name: str,
        *,
        first: date,
        last: date,
        weekdays: Sequence[int] = (),
        added: Sequence[date] = (),
        removed: Sequence[date] = (),
    ) -> Calendar:
        """Write a calendar. Before the answer, every job that uses it is planned again.

        >>> from datetime import date
        >>> days = await client.calendars.put("paydays", first=date(2026, 1, 1), last=date(2026, 12, 31), weekdays=[5])
        >>> days.moved
        []
        """
        body = {"first": first, "last": last, "weekdays": weekdays, "added": added, "removed": removed}
        return await self._ask(asked.put_calendar(name, body))

    async def preview(
        self,
        name: str,
        *,
        first: date,
        last: date,
        weekdays: Sequence[int] = (),
        added: Sequence[date] = (),
        removed: Sequence[date] = (),
        days: int = 90,
        after: str = "",
        limit: int = 20,
    ) -> CalendarPreview:
        """Preview a change of a calendar: the coming fires that it adds to its jobs and removes from them.

        >>> from datetime import date
        >>> found = await client.calendars.preview("x", first=date(2026, 1, 1), last=date(2026, 12, 31), weekdays=[4])
        >>> found.jobs
        []
        """
        body = {"first": first, "last": last, "weekdays": weekdays, "added": added, "removed": removed}
        more = {"days": days, "after": after, "limit": limit}
        return await self._ask(asked.preview_calendar(name, body | more))
