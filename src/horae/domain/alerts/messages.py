"""One message about a group of alerts, before it is put into the words and the format of a channel."""

from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Final

import msgspec

from horae.domain.alerts.kinds import AlertKind, AlertSeverity

ID_CHARACTERS: Final = 32
"""Characters of the digest in the id of a message."""


class AlertStatus(StrEnum):
    """What a message reports: the alert began, it ended, or a person tests the channel."""

    FIRING = "firing"
    RESOLVED = "resolved"
    TEST = "test"


class AlertMessage(msgspec.Struct, frozen=True):
    """A message about a group of alerts. Every text in it may come from a tenant; channels escape all of them.

    - `id` is the same in every retry, so that a receiver recognises a repeated message (`message_id` makes it).
    - `group_key` is the same in the firing and the resolved message of a group: it closes what the first one opened.
      The resolved message repeats kind, severity, tenant, job, owner and label: Alertmanager knows an alert by them.
    - `tenant` is the tenant's name, `system` for the platform. `job` and `label` (as `team=payments`) say what the
      group is about, where it is about one.
    - `count` is how many alerts the message stands for, `reason` says in plain words what happened.
    - `link` opens the alert in the console. `runbook` is the page that says what to do.
    - `extra` holds further facts by their names.
    """

    id: str
    group_key: str
    status: AlertStatus
    kind: AlertKind
    severity: AlertSeverity
    tenant: str
    opened_at: datetime
    reason: str
    job: str | None = None
    owner: str | None = None
    label: str | None = None
    count: int = 1
    resolved_at: datetime | None = None
    link: str | None = None
    runbook: str | None = None
    extra: dict[str, str] = {}


def message_id(group_key: str, opened_at: datetime, status: AlertStatus, number: int = 1) -> str:
    """Return the id of a message of a group: `alert_<digest>.firing.1`.

    The digest is the same for all messages from one opening to its end. `number` counts the messages of one status,
    where a rule repeats them.
    """
    opening = sha256(f"{group_key}\n{opened_at.isoformat()}".encode()).hexdigest()[:ID_CHARACTERS]
    return f"alert_{opening}.{status}.{number}"
