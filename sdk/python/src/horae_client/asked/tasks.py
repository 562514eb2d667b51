"""Requests about tasks."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from horae_client.models import Decision, Task, TaskAnswers
from horae_client.specs import Cancel, Put
from horae_client.wire import Request, aware, path, portions, said

MOST: Final = 1000
"""How many tasks one request may speak of."""


def schedule(
    type_name: str, key: str, at: datetime | None, payload: Any, version: int | None, once: str | None = None
) -> Request[Decision]:
    """Set the time of a key."""
    body = said(at=aware(at), payload=payload, version=version)
    return Request("PUT", path("tasks", type_name, key), Decision, body=body, key=once)


def said_before(type_name: str, key: str, body: Mapping[str, Any], once: str) -> Request[Decision]:
    """The same with a body that was written down earlier."""
    return Request("PUT", path("tasks", type_name, key), Decision, body=body, key=once)


def schedule_many(type_name: str, tasks: Sequence[Put]) -> list[Request[TaskAnswers]]:
    """Set the times of many keys, so many in each request."""
    for one in tasks:
        aware(one.at)
    return [
        Request("PUT", path("tasks", type_name), TaskAnswers, body={"tasks": part}) for part in portions(tasks, MOST)
    ]


def cancel(type_name: str, key: str, version: int | None, once: str | None = None) -> Request[Decision]:
    """A key's task is no longer wanted."""
    return Request("DELETE", path("tasks", type_name, key), Decision, query=said(version=version), key=once)


def cancel_many(type_name: str, tasks: Sequence[Cancel]) -> list[Request[TaskAnswers]]:
    """Many keys' tasks are no longer wanted."""
    return [
        Request("POST", path("tasks", type_name, "cancel"), TaskAnswers, body={"tasks": part})
        for part in portions(tasks, MOST)
    ]


def get(type_name: str, key: str) -> Request[Task]:
    """What is known about a key."""
    return Request("GET", path("tasks", type_name, key), Task)
