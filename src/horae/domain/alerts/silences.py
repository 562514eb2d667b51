"""Silences: maintenance windows in which alerts are recorded and not sent."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import msgspec

from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.rules import MOST_LABELS, WatchedJob, covers_job
from horae.domain.errors import Invalid

LONGEST_SILENCE: Final = timedelta(days=90)
LONGEST_COMMENT: Final = 500
"""Characters."""


class Silence(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A time in which alerts of some jobs, or of some kinds, are not sent. Without a selector: all alerts."""

    starts_at: datetime
    ends_at: datetime
    kinds: tuple[AlertKind, ...] = ()
    job: str | None = None
    labels: dict[str, str] = {}
    owner: str | None = None
    comment: str = ""

    def __post_init__(self) -> None:
        if not timedelta() < self.ends_at - self.starts_at <= LONGEST_SILENCE:
            raise Invalid(f"a silence ends after it begins, and lasts {LONGEST_SILENCE.days} days at most")
        if len(self.labels) > MOST_LABELS or len(self.comment) > LONGEST_COMMENT:
            raise Invalid("the silence is too long")

    def covers(self, kind: AlertKind, job: WatchedJob | None, now: datetime) -> bool:
        """Whether an alert is not sent now."""
        return (
            self.starts_at <= now < self.ends_at
            and (not self.kinds or kind in self.kinds)
            and covers_job(self.job, self.labels, self.owner, job)
        )


def silent_until(
    silences: Iterable[Silence], kind: AlertKind, job: WatchedJob | None, now: datetime
) -> datetime | None:
    """Return the end of the longest silence that covers an alert now; None: it is sent."""
    return max((one.ends_at for one in silences if one.covers(kind, job, now)), default=None)
