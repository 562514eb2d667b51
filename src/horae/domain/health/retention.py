"""Where the rows of a day are: in PostgreSQL, in the archive, in both."""

from enum import StrEnum


class DayPlace(StrEnum):
    """Where the history of a day is."""

    OPEN = "OPEN"
    """Today: rows are still being written."""
    HOT = "HOT"
    """In PostgreSQL alone, and no archive is going to have it."""
    WAITING = "WAITING"
    """In PostgreSQL alone, until the archive has it."""
    BOTH = "BOTH"
    ARCHIVED = "ARCHIVED"
    """In the archive alone."""
    DELETING = "DELETING"
    """Over its term in the archive: its objects are being deleted."""


def place_of(*, is_today: bool, is_stored: bool, archive_state: str | None, archives: bool) -> DayPlace:
    """Return where a day is. `archives`: whether the nodes have an archive."""
    if is_today:
        return DayPlace.OPEN
    if archive_state == "EXPIRING":
        return DayPlace.DELETING
    if archive_state == "ARCHIVED":
        return DayPlace.BOTH if is_stored else DayPlace.ARCHIVED
    return DayPlace.WAITING if archives or archive_state == "CLOSING" else DayPlace.HOT
