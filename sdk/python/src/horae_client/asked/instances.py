"""Requests about instances, their results and log lines, and what holds them back."""

from collections.abc import Sequence
from datetime import datetime

from horae_client.asked.jobs import stamp
from horae_client.models import Hold, Instance, InstanceResult, LogLine, Page, Retried
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
