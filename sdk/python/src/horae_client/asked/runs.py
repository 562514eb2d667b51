"""Requests about instances, holds, backfills, dead letters, calendars and health."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client.asked.jobs import stamp
from horae_client.models import Backfill, Calendar, DeadLetter, Health, Hold, Instance, Page, Replayed, Retried
from horae_client.wire import Request, path, said


def instances(
    states: Sequence[str], since: datetime | None, until: datetime | None, key: str | None, order: str | None = None
) -> Request[Page[Instance]]:
    """Get a page of the tenant's instances."""
    query = said(state=list(states) or None, since=stamp(since), until=stamp(until), key=key, order=order)
    return Request("GET", path("instances"), Page[Instance], query=query)


def instance(id_: str) -> Request[Instance]:
    """Get one instance with its attempts."""
    return Request("GET", path("instances", id_), Instance)


def cancel_instance(id_: str, key: str) -> Request[Instance]:
    """Cancel a live instance."""
    return Request("POST", path("instances", id_, "cancel"), Instance, key=key)


def retry_instance(id_: str) -> Request[Retried]:
    """Try again now."""
    return Request("POST", path("instances", id_, "retry"), Retried, again=False)


def holds() -> Request[Page[Hold]]:
    """Get a page of the holds."""
    return Request("GET", path("holds"), Page[Hold])


def backfill(id_: str) -> Request[Backfill]:
    """Get the progress of a backfill."""
    return Request("GET", path("backfills", id_), Backfill)


def backfills(job: str) -> Request[Page[Backfill]]:
    """Get a page of a job's backfills."""
    return Request("GET", path("jobs", job, "backfills"), Page[Backfill])


def cancel_backfill(id_: str, key: str) -> Request[Backfill]:
    """Cancel a backfill."""
    return Request("POST", path("backfills", id_, "cancel"), Backfill, key=key)


def dead_letters(query: Mapping[str, Any]) -> Request[Page[DeadLetter]]:
    """Get a page of dead letters."""
    return Request("GET", path("dead-letters"), Page[DeadLetter], query=query)


def replay(id_: str) -> Request[Retried]:
    """Replay one dead letter."""
    return Request("POST", path("dead-letters", id_, "replay"), Retried, again=False)


def replay_many(body: Mapping[str, Any]) -> Request[Replayed]:
    """Replay many dead letters. A replayed one is no longer open, so repeating the request sends each once."""
    return Request("POST", path("dead-letters", "replay"), Replayed, body=body)


def discard(id_: str) -> Request[None]:
    """Discard one dead letter."""
    return Request("POST", path("dead-letters", id_, "discard"), type(None), again=False)


def calendar(name: str) -> Request[Calendar]:
    """Get one calendar."""
    return Request("GET", path("calendars", name), Calendar)


def calendars() -> Request[Page[Calendar]]:
    """Get a page of calendars."""
    return Request("GET", path("calendars"), Page[Calendar])


def put_calendar(name: str, body: Mapping[str, Any]) -> Request[Calendar]:
    """Write a calendar."""
    return Request("PUT", path("calendars", name), Calendar, body=body)


def health() -> Request[Health]:
    """Get the health of the scheduler."""
    return Request("GET", path("scheduler", "health"), Health)


def page_after(query: Mapping[str, Any], cursor: str | None, limit: int | None) -> dict[str, Any]:
    """A query for the page after a cursor."""
    return {**query, **said(cursor=cursor, limit=limit)}
