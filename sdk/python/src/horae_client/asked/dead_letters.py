"""Requests about dead letters, failure causes and paced replays."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from horae_client.models import (
    ChangedDeadLetters,
    DeadLetter,
    FailureCause,
    FailureCauseDetail,
    PacedReplay,
    Page,
    Replayed,
    Retried,
)
from horae_client.wire import Request, path, said


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
