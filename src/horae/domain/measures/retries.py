"""How measures postpone retries: at half their rate, and long work behind short work."""

from datetime import datetime, timedelta
from typing import Final

from horae.domain.measures.measures import MeasureAction

SLOW_FACTOR: Final = 2
"""A pause of twice the length gives half the rate of retries."""
RETRY_BUCKETS: Final = (
    (1_000, timedelta(0)),
    (10_000, timedelta(seconds=60)),
    (60_000, timedelta(seconds=180)),
)
"""Up to which duration of a run in milliseconds a retry belongs to a bucket, and how much later that bucket is due."""
LONGEST_POSTPONEMENT: Final = timedelta(seconds=300)
"""How much later the retries of the longest runs are due."""


def postponed_retry(actions: frozenset[MeasureAction], now: datetime, due_at: datetime, duration_ms: float) -> datetime:
    """Return when a retry is due under these actions; `duration_ms` is how long runs of its job take."""
    if MeasureAction.SLOW_RETRIES in actions:
        due_at = now + SLOW_FACTOR * (due_at - now)
    if MeasureAction.SHORT_RETRIES_FIRST in actions:
        due_at += bucket_wait(duration_ms)
    return due_at


def bucket_wait(duration_ms: float) -> timedelta:
    """Return how much longer retries wait whose runs take this long, behind those of shorter runs."""
    return next((later for most_ms, later in RETRY_BUCKETS if duration_ms <= most_ms), LONGEST_POSTPONEMENT)
