"""Requests about tasks."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from horae_client.models import Decision, Task, TaskAnswers
from horae_client.specs import Cancel, Put
from horae_client.wire import Request, aware, path, portions, said

MOST: Final = 1000
"""The maximum number of tasks in one request."""


def schedule(
    type_name: str, key: str, at: datetime | None, payload: Any, version: int | None, once: str | None = None
) -> Request[Decision]:
    """Set the time of a key."""
    body = said(at=aware(at), payload=payload, version=version)
    return Request("PUT", path("tasks", type_name, key), Decision, body=body, key=once)


def said_before(type_name: str, key: str, body: Mapping[str, Any], once: str) -> Request[Decision]:
    """Set the time of a key, with a body that was stored earlier."""
    return Request("PUT", path("tasks", type_name, key), Decision, body=body, key=once)


def schedule_many(type_name: str, tasks: Sequence[Put]) -> list[Request[TaskAnswers]]:
    """Set the times of many keys, in as many requests as needed."""
    for one in tasks:
        aware(one.at)
    return [
        Request("PUT", path("tasks", type_name), TaskAnswers, body={"tasks": part}) for part in portions(tasks, MOST)
    ]


def cancel(type_name: str, key: str, version: int | None, once: str | None = None) -> Request[Decision]:
    """Cancel a key's task."""
    return Request("DELETE", path("tasks", type_name, key), Decision, query=said(version=version), key=once)


def cancel_many(type_name: str, tasks: Sequence[Cancel]) -> list[Request[TaskAnswers]]:
    """Cancel the tasks of many keys."""
    return [
        Request("POST", path("tasks", type_name, "cancel"), TaskAnswers, body={"tasks": part})
        for part in portions(tasks, MOST)
    ]


def get(type_name: str, key: str) -> Request[Task]:
    """Get the state of a key."""
    return Request("GET", path("tasks", type_name, key), Task)
