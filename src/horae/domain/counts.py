"""How many of each thing a tenant may have: what one tenant makes must not cost others their time."""

from datetime import timedelta
from enum import StrEnum
from typing import Final

import msgspec

from horae.domain.errors import CountReached, Invalid, InvalidSchedule
from horae.domain.schedule.expected import shortest_gap
from horae.domain.triggers import Trigger

MOST: Final = 10_000_000
LONGEST_PERIOD_S: Final = 86_400.0
REMOVED_KEPT: Final = timedelta(days=1)
"""For how long the row of a thing that was removed is kept: every copy hears of the removal by it."""
MOST_REMOVED: Final = 1_000
"""Rows of removed things of a kind that a tenant may leave behind within that time."""


class Counted(StrEnum):
    """What is counted, by the name of its bound."""

    JOBS = "jobs"
    SUBSCRIPTIONS = "subscriptions"
    INTAKES = "intakes"
    SOURCES = "sources"
    SECRETS = "secrets"
    CALENDARS = "calendars"
    CALENDAR_DAYS = "calendar_days"
    KEYS = "keys"
    BINDINGS = "bindings"


class CountBounds(msgspec.Struct, frozen=True, omit_defaults=True):
    """At most so many of each, and how many seconds lie between two fires of a job at least.

    The platform's admin sets them. Every subscription, intake and source costs each node some work in each second, a
    secret memory, a job a row that is looked at when it fires, a key or a binding a copy in every cell. The single days
    of all calendars are counted together: nodes keep those that due jobs name in memory.
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
    shortest_period: float = 1.0

    def __post_init__(self) -> None:
        for kind in Counted:
            if not 0 <= self.most(kind) <= MOST:
                raise Invalid(f"a tenant may have 0 to {MOST} {kind}, not {self.most(kind)}")
        if not 1 <= self.shortest_period <= LONGEST_PERIOD_S:
            raise Invalid(f"a shortest period is 1 to {LONGEST_PERIOD_S:g} seconds, not {self.shortest_period:g}")

    def most(self, kind: Counted) -> int:
        """How many of a kind there may be."""
        found: int = getattr(self, kind)
        return found

    def check(self, kind: Counted, there_are: int, more: int = 1) -> None:
        """Refuse one more, or so many more, where there would be more than there may be."""
        most = self.most(kind)
        if there_are + more > most:
            raise CountReached(
                f"the tenant has {there_are} {kind}, and may have {most}: the platform's admin can allow more",
                kind=kind,
                most=most,
            )

    def check_removed(self, kind: Counted, removed: int) -> None:
        """Refuse one more where as many as may be were removed and are not forgotten yet."""
        if removed >= MOST_REMOVED:
            raise CountReached(
                f"the tenant removed {removed} {kind} within a day: a new one can be made when some are forgotten",
                kind=kind,
                most=MOST_REMOVED,
            )

    def check_period(self, trigger: Trigger) -> None:
        """Refuse a trigger whose fires are closer to each other than they may be."""
        gap, least = shortest_gap(trigger), self.shortest_period
        if gap is not None and gap.total_seconds() < least:
            raise InvalidSchedule(
                f"fires of this tenant are at least {least:g} s apart, and these {gap.total_seconds():g} s",
                shortest_period=least,
            )
