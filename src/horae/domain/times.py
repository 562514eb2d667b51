"""The range of times that Horae accepts: from 1970 on and before the year 9000, in UTC. And durations as stored."""

from datetime import UTC, datetime, timedelta
from typing import Final

FIRST_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
END_TIME: Final = datetime(9000, 1, 1, tzinfo=UTC)
MILLISECOND: Final = timedelta(milliseconds=1)
MAX_COLUMN_MS: Final = 2**31 - 1
"""Milliseconds that a column of a duration holds."""


def column_ms(took: timedelta) -> int:
    """Return a duration in milliseconds, at most what its column holds."""
    return min(took // MILLISECOND, MAX_COLUMN_MS)


def is_known(at: datetime) -> bool:
    """Whether a time with an offset lies within the range. Its local year may differ from its year in UTC."""
    return FIRST_TIME <= at < END_TIME
