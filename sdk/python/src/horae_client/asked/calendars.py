"""Requests about calendars."""

from collections.abc import Mapping
from typing import Any

from horae_client.models import Calendar, CalendarPreview, Page
from horae_client.wire import Request, path


def calendars() -> Request[Page[Calendar]]:
    """Get a page of calendars."""
    return Request("GET", path("calendars"), Page[Calendar])


def calendar(name: str) -> Request[Calendar]:
    """Get one calendar."""
    return Request("GET", path("calendars", name), Calendar)


def preview_calendar(name: str, body: Mapping[str, Any]) -> Request[CalendarPreview]:
    """Preview a change of a calendar."""
    return Request("POST", path("calendars", name, "preview"), CalendarPreview, body=body)


def put_calendar(name: str, body: Mapping[str, Any]) -> Request[Calendar]:
    """Write a calendar."""
    return Request("PUT", path("calendars", name), Calendar, body=body)
