"""Alerts, and where and when they are sent."""

from datetime import datetime
from typing import Any

import msgspec

from horae_client.models.base import Model


class AlertMessage(Model, frozen=True, kw_only=True):
    """A message of an alert to one channel. `id` is the same in every attempt."""

    id: str
    sequence: int
    channel: str
    status: str
    state: str
    attempts: int
    created_at: datetime
    next_try_at: datetime | None = None
    sent_at: datetime | None = None
    error: str | None = None


class Alert(Model, frozen=True, kw_only=True):
    """What a rule found: a group of faults, from `opened_at` to `resolved_at`. Lists leave out `messages`."""

    id: str
    state: str
    kind: str
    severity: str
    rule: str
    reason: str
    count: int
    channels: list[str]
    opened_at: datetime
    last_seen_at: datetime
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    job: str | None = None
    job_id: str | None = None
    owner: str | None = None
    runbook: str | None = None
    acknowledged_at: datetime | None = None
    acknowledged_by: str | None = None
    resolved_at: datetime | None = None
    messages: list[AlertMessage] | None = None


class AlertChannel(Model, frozen=True, kw_only=True):
    """An alert channel. `channel` has its `kind` and the names of its secrets."""

    name: str
    version: int
    changed_at: datetime
    changed_by: str
    channel: dict[str, Any]
    created_at: datetime | None = None
    paused_at: datetime | None = None


class ChannelTest(Model, frozen=True, kw_only=True):
    """A test of an alert channel: PENDING until the channel has taken the message."""

    id: str
    state: str
    attempts: int
    sent_at: datetime | None = None
    error: str | None = None


class AlertRule(Model, frozen=True, kw_only=True):
    """An alert rule. `threshold` is in the unit of its kind, the times are in seconds."""

    name: str
    version: int
    changed_at: datetime
    changed_by: str
    kind: str
    labels: dict[str, str]
    channels: list[str]
    group_by: str
    repeat_after: int
    enabled: bool
    created_at: datetime | None = None
    paused_at: datetime | None = None
    job: str | None = None
    owner: str | None = None
    threshold: float | None = None
    resolve_after: int | None = None
    severity: str | None = None


class Silence(Model, frozen=True, kw_only=True):
    """A time in which alerts are recorded and not sent."""

    name: str
    version: int
    changed_at: datetime
    changed_by: str
    starts_at: datetime
    ends_at: datetime
    kinds: list[str]
    labels: dict[str, str]
    created_at: datetime | None = None
    paused_at: datetime | None = None
    job: str | None = None
    owner: str | None = None
    comment: str = ""
