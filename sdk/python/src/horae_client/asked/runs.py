"""Requests about instances, holds, backfills, dead letters, calendars and health."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import UNSET

from horae_client.asked.jobs import stamp
from horae_client.models import (
    Backfill,
    BackfillGroup,
    BackfillPlan,
    Calendar,
    CalendarPreview,
    ChangedDeadLetters,
    DeadLetter,
    FailureCause,
    FailureCauseDetail,
    Health,
    Hold,
    Instance,
    InstanceResult,
    LogLine,
    PacedReplay,
    Page,
    Replayed,
    Retried,
    StartedBackfillGroup,
)
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


def result(id_: str) -> Request[InstanceResult]:
    """Get what an instance returned."""
    return Request("GET", path("instances", id_, "result"), InstanceResult)


def log_lines(id_: str) -> Request[Page[LogLine]]:
    """Get a page of the lines that the attempts of an instance logged."""
    return Request("GET", path("instances", id_, "logs"), Page[LogLine])


def tail(id_: str) -> Request[LogLine]:
    """Follow the lines of an instance: a stream of events."""
    return Request("GET", path("instances", id_, "logs", "tail"), LogLine)


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


def plan_backfill(job: str, body: Mapping[str, Any]) -> Request[BackfillPlan]:
    """Get what a backfill would do."""
    return Request("POST", path("jobs", job, "backfill", "plan"), BackfillPlan, body=body)


def pause_backfill(id_: str, key: str) -> Request[Backfill]:
    """Pause a backfill."""
    return Request("POST", path("backfills", id_, "pause"), Backfill, key=key)


def resume_backfill(id_: str, key: str) -> Request[Backfill]:
    """Resume a backfill."""
    return Request("POST", path("backfills", id_, "resume"), Backfill, key=key)


def start_backfill_group(body: Mapping[str, Any], key: str) -> Request[StartedBackfillGroup]:
    """Run past fires of many jobs."""
    return Request("POST", path("backfill-groups"), StartedBackfillGroup, body=body, key=key)


def backfill_group(id_: str) -> Request[BackfillGroup]:
    """Get the progress of a backfill group."""
    return Request("GET", path("backfill-groups", id_), BackfillGroup)


def change_backfill_group(id_: str, verb: str) -> Request[BackfillGroup]:
    """Pause, resume or cancel the parts of a backfill group. Repeated, it finds them so."""
    return Request("POST", path("backfill-groups", id_, verb), BackfillGroup)


def cancel_backfill(id_: str, key: str) -> Request[Backfill]:
    """Cancel a backfill."""
    return Request("POST", path("backfills", id_, "cancel"), Backfill, key=key)


def dead_letters(query: Mapping[str, Any]) -> Request[Page[DeadLetter]]:
    """Get a page of dead letters."""
    return Request("GET", path("dead-letters"), Page[DeadLetter], query=query)


def replay(id_: str, payload: Any = UNSET) -> Request[Retried]:
    """Replay one dead letter, with its own payload or an edited one."""
    body = None if payload is UNSET else {"payload": payload}
    return Request("POST", path("dead-letters", id_, "replay"), Retried, body=body, again=False)


def replay_many(body: Mapping[str, Any]) -> Request[Replayed]:
    """Replay many dead letters. A replayed one is no longer open, so repeating the request sends each once."""
    return Request("POST", path("dead-letters", "replay"), Replayed, body=body)


def discard(id_: str) -> Request[None]:
    """Discard one dead letter."""
    return Request("POST", path("dead-letters", id_, "discard"), type(None), again=False)


def discard_many(body: Mapping[str, Any]) -> Request[ChangedDeadLetters]:
    """Discard many dead letters. A discarded one is no longer open, so the request may be repeated."""
    return Request("POST", path("dead-letters", "discard"), ChangedDeadLetters, body=body)


def tag_many(body: Mapping[str, Any]) -> Request[ChangedDeadLetters]:
    """Add tags to many dead letters, and remove others."""
    return Request("POST", path("dead-letters", "tag"), ChangedDeadLetters, body=body)


def failure_causes(job: str | None) -> Request[Page[FailureCause]]:
    """Get a page of failure causes."""
    return Request("GET", path("failure-causes"), Page[FailureCause], query=said(job=job))


def failure_cause(cause: str) -> Request[FailureCauseDetail]:
    """Get a failure cause with samples."""
    return Request("GET", path("failure-causes", cause), FailureCauseDetail)


def start_paced_replay(body: Mapping[str, Any], key: str) -> Request[PacedReplay]:
    """Begin a paced replay."""
    return Request("POST", path("paced-replays"), PacedReplay, body=body, key=key)


def paced_replays() -> Request[Page[PacedReplay]]:
    """Get a page of paced replays."""
    return Request("GET", path("paced-replays"), Page[PacedReplay])


def paced_replay(id_: str) -> Request[PacedReplay]:
    """Get the progress of a paced replay."""
    return Request("GET", path("paced-replays", id_), PacedReplay)


def stop_paced_replay(id_: str, key: str) -> Request[PacedReplay]:
    """Stop a paced replay."""
    return Request("POST", path("paced-replays", id_, "stop"), PacedReplay, key=key)


def calendar(name: str) -> Request[Calendar]:
    """Get one calendar."""
    return Request("GET", path("calendars", name), Calendar)


def calendars() -> Request[Page[Calendar]]:
    """Get a page of calendars."""
    return Request("GET", path("calendars"), Page[Calendar])


def preview_calendar(name: str, body: Mapping[str, Any]) -> Request[CalendarPreview]:
    """Preview a change of a calendar."""
    return Request("POST", path("calendars", name, "preview"), CalendarPreview, body=body)


def put_calendar(name: str, body: Mapping[str, Any]) -> Request[Calendar]:
    """Write a calendar."""
    return Request("PUT", path("calendars", name), Calendar, body=body)


def health() -> Request[Health]:
    """Get the health of the scheduler."""
    return Request("GET", path("scheduler", "health"), Health)


def page_after(query: Mapping[str, Any], cursor: str | None, limit: int | None) -> dict[str, Any]:
    """A query for the page after a cursor."""
    return {**query, **said(cursor=cursor, limit=limit)}
