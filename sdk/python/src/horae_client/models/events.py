"""Subscriptions to events, intakes of changes, and parked messages."""

from datetime import datetime
from typing import Any

from horae_client.models.base import Model


class SubscriptionProgress(Model, frozen=True, kw_only=True):
    """How many events were sent, up to when all are delivered, and the current error."""

    sent: int
    delivered_until: datetime | None = None
    error: str | None = None


class Subscription(Model, frozen=True, kw_only=True):
    """A subscription: where events go, and which. `progress` is None in lists and after changes."""

    name: str
    version: int
    created_at: datetime
    changed_at: datetime
    changed_by: str
    sink: dict[str, Any]
    events: list[str]
    labels: dict[str, str]
    paused_at: datetime | None = None
    progress: SubscriptionProgress | None = None


class IntakePosition(Model, frozen=True, kw_only=True):
    """How many messages were taken and parked, how many wait in the topic, and the current error."""

    taken: int
    parked: int
    looked_at: datetime
    taken_at: datetime | None = None
    waiting: int | None = None
    error: str | None = None


class Intake(Model, frozen=True, kw_only=True):
    """An intake: a topic with changes of times. `types` empty: all types. `position` is None until a node has read."""

    name: str
    version: int
    created_at: datetime
    changed_at: datetime
    changed_by: str
    source: dict[str, Any]
    types: list[str]
    paused_at: datetime | None = None
    position: IntakePosition | None = None


class ParkedMessage(Model, frozen=True, kw_only=True):
    """A message that could not be processed: where it was in the topic, why it was refused, and how it begins."""

    id: str
    at: datetime
    intake: str
    place: str
    code: str
    reason: str
    body: str
    unreadable: str | None = None
