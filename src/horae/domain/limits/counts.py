"""Count bounds: how many of each thing a tenant may have, so that no tenant slows down the others."""

from datetime import timedelta
from enum import StrEnum
from typing import Final

import msgspec

from horae.domain.errors import CountReached, Invalid, InvalidSchedule
from horae.domain.schedules.expected import shortest_gap
from horae.domain.schedules.triggers import Trigger

MOST: Final = 10_000_000
"""The highest bound."""
LONGEST_PERIOD_S: Final = 86_400.0
REMOVED_KEPT: Final = timedelta(days=1)
"""How long the row of a removed thing is kept: every copy learns of the removal from it."""
MOST_REMOVED: Final = 1_000
"""Rows of removed things of one kind that a tenant may have within that time."""


class CountedKind(StrEnum):
    """What is counted; the value is the name of its bound."""

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


class CountBounds(msgspec.Struct, frozen=True, omit_defaults=True):
    """The highest number of each kind, and the least number of seconds between two fires of a job (`shortest_period`).

    The platform's admin sets them. Each subscription, intake and source costs every node some work per second; a secret
    costs memory; a job costs a row that is read when it fires; a key or a binding costs a copy in every cell. The
    single days of all calendars are counted together: nodes keep the calendars of due jobs in memory. An alert channel,
    an alert rule or a silence costs a copy in every cell that is read every two seconds.
    """

    jobs: int = 300_000
    subscriptions: int = 100
    intakes: int = 100
    sources: int = 1_000
    secrets: int = 1_000
    calendars: int = 100
    calendar_days: int = 100_000
    keys: int = 1_000
    bindings: int = 10_000
    alert_channels: int = 100
    alert_rules: int = 200
    silences: int = 200
    shortest_period: float = 1.0

    def __post_init__(self) -> None:
        for kind in CountedKind:
            if not 0 <= self.most(kind) <= MOST:
                raise Invalid(f"a tenant may have 0 to {MOST} {kind}, not {self.most(kind)}")
        if not 1 <= self.shortest_period <= LONGEST_PERIOD_S:
            raise Invalid(f"a shortest period is 1 to {LONGEST_PERIOD_S:g} seconds, not {self.shortest_period:g}")

    def most(self, kind: CountedKind) -> int:
        """Return the bound of a kind."""
        found: int = getattr(self, kind)
        return found

    def check(self, kind: CountedKind, there_are: int, more: int = 1) -> None:
        """Refuse `more` things where the tenant would exceed its bound."""
        most = self.most(kind)
        if there_are + more > most:
            raise CountReached(
                f"the tenant has {there_are} {kind}, and may have {most}: the platform's admin can allow more",
                kind=kind,
                most=most,
            )

    def check_removed(self, kind: CountedKind, removed: int) -> None:
        """Refuse a new thing where too many removed ones are still kept."""
        if removed >= MOST_REMOVED:
            raise CountReached(
                f"the tenant removed {removed} {kind} within a day: a new one can be made when some are forgotten",
                kind=kind,
                most=MOST_REMOVED,
            )

    def check_period(self, trigger: Trigger) -> None:
        """Refuse a trigger whose fires are closer together than allowed."""
        gap, least = shortest_gap(trigger), self.shortest_period
        if gap is not None and gap.total_seconds() < least:
            raise InvalidSchedule(
                f"fires of this tenant are at least {least:g} s apart, and these {gap.total_seconds():g} s",
                shortest_period=least,
            )
