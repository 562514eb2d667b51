"""The times that Horae knows: from 1970 on, and before the year 9000, as UTC has them."""

from datetime import UTC, datetime
from typing import Final

FIRST_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
END_TIME: Final = datetime(9000, 1, 1, tzinfo=UTC)


def is_known(at: datetime) -> bool:
    """Whether a time with an offset lies between. Its own year may be another than that of UTC."""
    return FIRST_TIME <= at < END_TIME
