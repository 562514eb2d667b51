"""The service level: which part of all due times was served in time, and how fast the error budget burns.

1. A due time is served in time if its first attempt leaves, or a worker can have it, within `IN_TIME_LIMIT`. The time
   for which a gate holds the call back does not count: that is the target's, or a limit of the tenant.
2. A fire that is skipped because nobody fired it (`OUR_SKIPS`) is late. A fire that its tenant does not want is not
   expected: a paused job, an excluded day, an overlap.
3. The budget of 30 days is the part of all due times that may be late. A burn rate of 1 uses it up in 30 days.
4. A rule compares a long and a short span of time: the long one says that it matters, the short one that it goes on.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules.advance import ON_TIME_TOLERANCE

DEFAULT_OBJECTIVE_SHARE: Final = 0.999
"""The part of all due times that is to be in time, unless the deployment says otherwise."""
IN_TIME_LIMIT: Final = timedelta(seconds=10)
"""How long after its due time a fire is in time. A lost node costs about the term of its lease, 8 s by default."""
IN_TIME_LIMIT_MS: Final = IN_TIME_LIMIT // timedelta(milliseconds=1)
OUR_SKIPS: Final = frozenset(
    {SkipReason.MISFIRE, SkipReason.TOO_LATE, SkipReason.OVER_CAP, SkipReason.REFUSED, SkipReason.PEAK}
)
"""Reasons for a skipped fire whose cause is the scheduler: nobody fired in time, or the row was refused."""
BUDGET_SPAN: Final = timedelta(days=30)
MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
KEPT: Final[Mapping[timedelta, timedelta]] = {
    MINUTE: timedelta(hours=7),
    HOUR: timedelta(days=3, hours=2),
    DAY: timedelta(days=32),
}
"""For how long counts are kept, by the length of time that they are added up for."""
SPANS: Final[Mapping[str, tuple[timedelta, timedelta]]] = {
    "5m": (timedelta(minutes=5), MINUTE),
    "30m": (timedelta(minutes=30), MINUTE),
    "1h": (timedelta(hours=1), MINUTE),
    "6h": (timedelta(hours=6), MINUTE),
    "3d": (timedelta(days=3), HOUR),
    "30d": (BUDGET_SPAN, DAY),
}
"""The spans of time for which burn rates are known, and the counts that each is made of."""


class BurnRule(NamedTuple):
    """A budget burns too fast when both spans have at least this rate."""

    name: str
    long: str
    short: str
    rate: float


BURN_RULES: Final = (
    BurnRule("fast", "1h", "5m", 14.4),  # uses two percent of the budget in an hour
    BurnRule("slow", "6h", "30m", 6.0),  # uses five percent in six hours
    BurnRule("steady", "3d", "6h", 1.0),  # uses a tenth in three days
)


class LevelCount(NamedTuple):
    """Due times that were served in time, and that were not."""

    in_time: int = 0
    late: int = 0

    @property
    def expected(self) -> int:
        """All due times."""
        return self.in_time + self.late

    @property
    def late_share(self) -> float:
        """The part that was late; 0 without due times."""
        return self.late / self.expected if self.expected else 0.0

    def plus(self, other: "LevelCount") -> "LevelCount":
        """Return the sum of two counts."""
        return LevelCount(self.in_time + other.in_time, self.late + other.late)


class ServiceLevel(NamedTuple):
    """The counts of each span, and what is overdue now and not fired yet. What is overdue counts as late."""

    objective: float
    counts: Mapping[str, LevelCount]
    overdue: int = 0

    def count_of(self, span: str) -> LevelCount:
        """Return the counts of a span, with what is overdue now."""
        return self.counts.get(span, LevelCount()).plus(LevelCount(0, self.overdue))

    @property
    def availability(self) -> float | None:
        """The part of all due times of 30 days that was served in time; None without due times."""
        counted = self.count_of("30d")
        return 1 - counted.late_share if counted.expected else None

    @property
    def budget_remaining(self) -> float:
        """The part of the error budget that is left; below zero when more was late than the objective allows."""
        return 1 - self.burn_rate("30d")

    def burn_rate(self, span: str) -> float:
        """Return how many times faster than allowed the budget burns in a span."""
        return self.count_of(span).late_share / (1 - self.objective)

    @property
    def burning(self) -> list[BurnRule]:
        """The rules by which the budget burns too fast now."""
        return [
            rule
            for rule in BURN_RULES
            if self.burn_rate(rule.long) >= rule.rate and self.burn_rate(rule.short) >= rule.rate
        ]


def is_missed(fire_time: datetime, decided_at: datetime) -> bool:
    """Whether a recurring fire was decided so late that the misfire policy applied."""
    return decided_at - fire_time > ON_TIME_TOLERANCE


def begin_of(at: datetime, step: timedelta) -> datetime:
    """Return the begin of the minute, hour or day (UTC) that contains a time."""
    if step == MINUTE:
        return at.replace(second=0, microsecond=0)
    seconds = step // timedelta(seconds=1)
    return datetime.fromtimestamp(at.timestamp() // seconds * seconds, UTC)


def spread_range(first: datetime, last: datetime, many: int, now: datetime) -> Iterator[tuple[datetime, int]]:
    """Distribute the fires of a skipped range evenly over its minutes, or over its hours if they are long past.

    Yields the begin of each stretch with its number of fires. Fires before the budget's span are left out.
    """
    step = MINUTE if first >= now - KEPT[MINUTE] else HOUR if first >= now - KEPT[HOUR] else DAY
    begin = begin_of(first, step)
    stretches = (begin_of(last, step) - begin) // step + 1
    for place in range(stretches):
        at = begin + place * step
        share = many * (place + 1) // stretches - many * place // stretches
        if share and at >= now - KEPT[DAY]:
            yield at, share
