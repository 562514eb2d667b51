"""Alerts: what rules found, in groups, and the messages about it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.alerts.kinds import AlertKind, AlertSeverity
from horae.domain.alerts.rules import NamedRule, WatchedJob

MAX_GROUPS: Final = 50
"""Open alerts of one rule in a cell. What is found beyond goes into one alert together, so that no tenant floods its
channels or our rows."""
OVERFLOW_GROUP: Final = "*"
WHOLE_TENANT: Final = ""
LONGEST_REASON: Final = 1000
"""Characters."""
MESSAGES_PER_MINUTE: Final = 20
"""Messages to one channel; what is more waits. Several vendors refuse more than this."""
LONGEST_BACKOFF_S: Final = 60.0


class AlertState(StrEnum):
    """The state of an alert, for lists."""

    OPEN = "OPEN"
    ACKNOWLEDGED = "ACKNOWLEDGED"
    RESOLVED = "RESOLVED"


class MessageState(StrEnum):
    """What became of a message to one channel.

    PENDING messages are tried until they arrive. SILENCED ones are not sent. FAILED: the channel refused the message
    for a day, or is removed.
    """

    PENDING = "PENDING"
    SENT = "SENT"
    SILENCED = "SILENCED"
    FAILED = "FAILED"


class RuleFault(NamedTuple):
    """A fault that a rule found in a cell. `subject` tells the groups of a rule apart; `cases`: how many."""

    tenant_id: UUID
    rule: NamedRule
    subject: str
    reason: str
    cases: int = 1
    job_id: UUID | None = None
    job: WatchedJob | None = None


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """A group of faults of one rule in one cell, from its opening to its end."""

    id: UUID
    tenant_id: UUID
    rule: str
    kind: AlertKind
    severity: AlertSeverity
    group_key: str
    job_id: UUID | None
    job: str | None
    owner: str | None
    labels: dict[str, str]
    runbook: str | None
    reason: str
    count: int
    sequence: int
    announced: bool
    channels: tuple[str, ...]
    repeat_after_s: int
    opened_at: datetime
    last_seen_at: datetime
    messaged_at: datetime | None
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    resolved_at: datetime | None

    @property
    def state(self) -> AlertState:
        """The state for lists."""
        if self.resolved_at is not None:
            return AlertState.RESOLVED
        return AlertState.OPEN if self.acknowledged_at is None else AlertState.ACKNOWLEDGED

    @property
    def watched_job(self) -> WatchedJob | None:
        """The job as silences see it."""
        return None if self.job is None else WatchedJob(self.job, self.labels, self.owner)


class AlertFilter(NamedTuple):
    """Which alerts to list; None: all."""

    state: AlertState | None = None
    kind: AlertKind | None = None
    job: str | None = None


class MessageRow(NamedTuple):
    """A message with its state."""

    alert_id: UUID
    sequence: int
    channel: str
    state: str
    attempts: int
    created_at: datetime
    next_try_at: datetime | None
    sent_at: datetime | None
    error: str | None
    body: dict[str, Any]


def group_faults(found: Iterable[RuleFault], open_groups: Mapping[tuple[UUID, str], frozenset[str]]) -> list[RuleFault]:
    """Return one fault for each group.

    1. A rule with `group_by: tenant` has one group.
    2. Faults of one group are added up; the reason of the last one stays.
    3. A rule has at most `MAX_GROUPS` open groups. New groups beyond go into the group `*`.
    """
    groups: dict[tuple[UUID, str, str], RuleFault] = {}
    names = {place: set(keys) for place, keys in open_groups.items()}
    for one in found:
        subject = WHOLE_TENANT if one.rule.rule.group_by == "tenant" else one.subject
        known = names.setdefault((one.tenant_id, one.rule.name), set())
        if subject not in known and len(known) >= MAX_GROUPS:
            subject = OVERFLOW_GROUP
        known.add(subject)
        key = (one.tenant_id, one.rule.name, subject)
        before = groups[key].cases if key in groups else 0
        groups[key] = _moved_to(one, subject)._replace(cases=one.cases + before)
    return list(groups.values())


def _moved_to(one: RuleFault, subject: str) -> RuleFault:
    """Return a fault in a group; in a group of several jobs the reason names the job."""
    if subject == one.subject:
        return one
    reason = one.reason if one.job is None else f"{one.job.name}: {one.reason}"
    return one._replace(subject=subject, job_id=None, job=None, reason=reason)


def backoff_s(attempts: int) -> float:
    """Return the seconds to the next attempt at a message: 1, 2, 4 … 60."""
    return min(LONGEST_BACKOFF_S, 2.0 ** min(attempts - 1, 10))
