"""How much of each of its limits a tenant uses, and how near it is to the limit."""

from enum import StrEnum
from typing import Final, NamedTuple

NEAR_SHARE: Final = 0.8
"""The share of a limit from which on it counts as near."""


class UsageKind(StrEnum):
    """What a limit counts. The values of the count bounds are those of `CountedKind`."""

    JOBS = "jobs"
    SUBSCRIPTIONS = "subscriptions"
    INTAKES = "intakes"
    SOURCES = "sources"
    SECRETS = "secrets"
    CALENDARS = "calendars"
    CALENDAR_DAYS = "calendar_days"
    KEYS = "keys"
    BINDINGS = "bindings"
    ALERT_CHANNELS = "alert_channels"
    ALERT_RULES = "alert_rules"
    SILENCES = "silences"
    LOG_BYTES = "log_bytes"
    RETRIES = "retries"
    PERMITS = "permits"


class LimitUse(NamedTuple):
    """How much of one limit is used. `name`: the limit key where a kind has several limits."""

    kind: UsageKind
    used: int
    most: int
    name: str | None = None

    @property
    def share(self) -> float:
        """The used part of the limit; 1 where nothing is allowed and nothing is used."""
        return self.used / self.most if self.most else 1.0

    @property
    def is_near(self) -> bool:
        """Whether the tenant uses much of what it may; a limit of zero, of which nothing is used, is not near."""
        return self.used > 0 and self.share >= NEAR_SHARE


def nearest_first(uses: list[LimitUse]) -> list[LimitUse]:
    """Return the uses, the one that is nearest to its limit first; unused limits come last."""
    return sorted(uses, key=lambda one: (one.used == 0, -one.share, one.kind, one.name or ""))
