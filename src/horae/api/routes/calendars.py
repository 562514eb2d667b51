"""Routes of calendars: list, read, preview a change, write."""

from typing import Annotated

from fastapi import Path

from horae.api.models.base import NAME_PATTERN
from horae.api.models.calendars import (
    CalendarPreviewView,
    CalendarView,
    NewCalendar,
    PreviewCalendar,
    SavedCalendarView,
)
from horae.api.pages import Page, Paged
from horae.api.routing import may, router
from horae.domain.errors import NotFound
from horae.domain.names import LONGEST_NAME
from horae.service.context import Context
from horae.service.schedules import calendar_previews, calendars

routes = router("calendars")
CalendarName = Annotated[str, Path(min_length=1, max_length=LONGEST_NAME, pattern=NAME_PATTERN)]


@routes.get("/calendars")
async def list_calendars(ctx: Annotated[Context, may("calendars.list")], paging: Paged) -> Page[CalendarView]:
    """List the calendars of the tenant, by name."""
    found = await calendars.page(ctx, after=paging.after or "", limit=paging.take)
    return paging.page(found, CalendarView.of, lambda one: one.name)


@routes.get("/calendars/{calendar}")
async def get_calendar(ctx: Annotated[Context, may("calendars.read")], calendar: CalendarName) -> CalendarView:
    """Get a calendar."""
    found = (await calendars.by_names(ctx, [calendar])).get(calendar)
    if found is None:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no calendar {calendar!r}")
    return CalendarView.of(found)


@routes.post("/calendars/{calendar}/preview")
async def preview_calendar(
    ctx: Annotated[Context, may("calendars.preview")], calendar: CalendarName, asked: PreviewCalendar
) -> CalendarPreviewView:
    """Preview a change of a calendar: which coming fires of its jobs would be added or removed. Nothing is saved."""
    made = asked.to_domain(calendar)
    return CalendarPreviewView.of(
        await calendar_previews.preview(ctx, made, days=asked.days, after=asked.after, limit=asked.limit)
    )


@routes.put("/calendars/{calendar}")
async def put_calendar(
    ctx: Annotated[Context, may("calendars.put")], calendar: CalendarName, asked: NewCalendar
) -> SavedCalendarView:
    """Create or replace a calendar. The jobs that use it are rescheduled before the response."""
    made = asked.to_domain(calendar)
    moved = await calendars.put(ctx, made)
    return SavedCalendarView(**CalendarView.of(made).model_dump(), moved=moved)
