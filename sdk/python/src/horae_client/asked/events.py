"""Requests about subscriptions, intakes and parked messages.

Removals are not retried after a lost answer, because a second removal finds nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client.models import Intake, Page, ParkedMessage, Subscription
from horae_client.wire import Request, aware, path, said


def put_subscription(
    name: str, sink: Mapping[str, Any], events: Sequence[str], labels: Mapping[str, str] | None
) -> Request[Subscription]:
    """Create or change a subscription."""
    body = said(sink=dict(sink), events=list(events) or None, labels=labels)
    return Request("PUT", path("subscriptions", name), Subscription, body=body)


def subscriptions() -> Request[Page[Subscription]]:
    """Get a page of subscriptions."""
    return Request("GET", path("subscriptions"), Page[Subscription])


def subscription(name: str) -> Request[Subscription]:
    """Get a subscription with its progress."""
    return Request("GET", path("subscriptions", name), Subscription)


def subscription_verb(name: str, verb: str) -> Request[Subscription]:
    """Pause or resume a subscription."""
    return Request("POST", path("subscriptions", name, verb), Subscription)


def replay_events(name: str, since: datetime | None, until: datetime | None) -> Request[Subscription]:
    """Deliver the events of a time span again."""
    body = said(since=aware(since), until=aware(until))
    return Request("POST", path("subscriptions", name, "replay"), Subscription, body=body, again=False)


def remove_subscription(name: str) -> Request[Subscription]:
    """Remove a subscription."""
    return Request("DELETE", path("subscriptions", name), Subscription, again=False)


def put_intake(name: str, source: Mapping[str, Any], types: Sequence[str]) -> Request[Intake]:
    """Create or change an intake."""
    return Request("PUT", path("intakes", name), Intake, body=said(source=dict(source), types=list(types) or None))


def intakes() -> Request[Page[Intake]]:
    """Get a page of intakes."""
    return Request("GET", path("intakes"), Page[Intake])


def intake(name: str) -> Request[Intake]:
    """Get an intake."""
    return Request("GET", path("intakes", name), Intake)


def intake_verb(name: str, verb: str) -> Request[Intake]:
    """Pause or resume an intake."""
    return Request("POST", path("intakes", name, verb), Intake)


def remove_intake(name: str) -> Request[Intake]:
    """Remove an intake."""
    return Request("DELETE", path("intakes", name), Intake, again=False)


def parked_messages() -> Request[Page[ParkedMessage]]:
    """Get a page of parked messages."""
    return Request("GET", path("parked"), Page[ParkedMessage])


def replay_parked(message: str) -> Request[ParkedMessage]:
    """Process a parked message again."""
    return Request("POST", path("parked", message, "replay"), ParkedMessage, again=False)


def drop_parked(message: str) -> Request[ParkedMessage]:
    """Drop a parked message."""
    return Request("DELETE", path("parked", message), ParkedMessage, again=False)
