"""Requests about instances, holds, backfills, dead letters, calendars and health."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client.asked.jobs import stamp
from horae_client.models import Backfill, Calendar, DeadLetter, Health, Hold, Instance, Page, Replayed, Retried
from horae_client.wire import Request, path, said


def instances(
    states: Sequence[str], since: datetime | None, until: datetime | None, key: str | None
) -> Request[Page[Instance]]:
    """A page of the tenant's instances."""
    query = said(state=list(states) or None, since=stamp(since), until=stamp(until), key=key)
    return Request("GET", path("instances"), Page[Instance], query=query)


def instance(id_: str) -> Request[Instance]:
    """One instance with its attempts."""
    return Request("GET", path("instances", id_), Instance)


def cancel_instance(id_: str, key: str) -> Request[Instance]:
    """End a live instance."""
    return Request("POST", path("instances", id_, "cancel"), Instance, key=key)


def retry_instance(id_: str) -> Request[Retried]:
    """Try again now."""
    return Request("POST", path("instances", id_, "retry"), Retried, again=False)


def holds() -> Request[Page[Hold]]:
    """A page of what is held back."""
    return Request("GET", path("holds"), Page[Hold])


def backfill(id_: str) -> Request[Backfill]:
    """How far a backfill has come."""
    return Request("GET", path("backfills", id_), Backfill)


def backfills(job: str) -> Request[Page[Backfill]]:
    """A page of a job's backfills."""
    return Request("GET", path("jobs", job, "backfills"), Page[Backfill])


def cancel_backfill(id_: str, key: str) -> Request[Backfill]:
    """Give birth to no more of it."""
    return Request("POST", path("backfills", id_, "cancel"), Backfill, key=key)


def letters(query: Mapping[str, Any]) -> Request[Page[DeadLetter]]:
    """A page of dead letters."""
    return Request("GET", path("dead-letters"), Page[DeadLetter], query=query)


def replay(id_: str) -> Request[Retried]:
    """Send one letter again."""
    return Request("POST", path("dead-letters", id_, "replay"), Retried, again=False)


def replay_many(body: Mapping[str, Any]) -> Request[Replayed]:
    """Send many letters again. Those that were sent are no longer waiting: asking twice sends each once."""
    return Request("POST", path("dead-letters", "replay"), Replayed, body=body)


def discard(id_: str) -> Request[None]:
    """Give one letter up for good."""
    return Request("POST", path("dead-letters", id_, "discard"), type(None), again=False)


def calendar(name: str) -> Request[Calendar]:
    """One calendar."""
    return Request("GET", path("calendars", name), Calendar)


def calendars() -> Request[Page[Calendar]]:
    """A page of calendars."""
    return Request("GET", path("calendars"), Page[Calendar])


def put_calendar(name: str, body: Mapping[str, Any]) -> Request[Calendar]:
    """Write a calendar."""
    return Request("PUT", path("calendars", name), Calendar, body=body)


def health() -> Request[Health]:
    """How the scheduler does."""
    return Request("GET", path("scheduler", "health"), Health)


def page_after(query: Mapping[str, Any], cursor: str | None, limit: int | None) -> dict[str, Any]:
    """A query for the page after a cursor."""
    return {**query, **said(cursor=cursor, limit=limit)}
