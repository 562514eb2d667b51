"""How times are typed and printed on the command line."""

from datetime import datetime
from typing import Final

MOMENT: Final = "%Y-%m-%dT%H:%M:%S%z"
"""The form of a time that a person types: with its offset."""


def moment(at: datetime | None) -> str:
    """A time for people, in UTC."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"
