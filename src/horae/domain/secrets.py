"""Named secrets of a tenant: what is told of them. Their values are told to nobody but their target."""

from datetime import datetime
from typing import Final, NamedTuple

from horae.domain.auth import check_secret_name
from horae.domain.errors import Invalid

LONGEST_VALUE: Final = 16_384
"""A chain of certificates with its key fits."""


class Secret(NamedTuple):
    """One secret without its value. Every change raises its version."""

    name: str
    version: int
    changed_at: datetime
    changed_by: str


def check_secret(name: str, value: str) -> None:
    """Refuse what could not be a secret. The value is in no message."""
    check_secret_name(name)
    if not value or len(value) > LONGEST_VALUE or "\0" in value:
        raise Invalid(f"a secret's value is 1 to {LONGEST_VALUE} characters, none of them NUL")
