"""Ids: UUIDv7 whose 12 `rand_a` bits hold the shard, so that any id finds its shard without a lookup.

Ids sort roughly by creation time, which keeps index pages in the cache. They are never used as a sequence. People see a
prefix and 26 characters (`job_01hv…`), machines use the UUID.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from horae.domain.errors import NotFound

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u, which are easy to misread
PYTHONS: Final = "0123456789abcdefghijklmnopqrstuv"
"""The digits of base 32 in Python's `int`."""
DIGITS: Final = "".join(dict(zip(ALPHABET, PYTHONS, strict=True)).get(chr(code), "!") for code in range(128))
"""Translates our alphabet to `PYTHONS`; any other character becomes "!", which `int` refuses."""
PAIRS: Final = tuple(
    high + low for high in ALPHABET for low in ALPHABET
)  # ten bits at a time, for speed: keys are made at every fire
LENGTH: Final = 26
"""Characters of an id without its prefix."""
LONGEST_ID: Final = 60
"""Characters of an id in a request. No id has so many; a longer text is refused before it is looked at."""
ENTROPY_BITS: Final = 62
LAST_MS: Final = 253_402_300_799_000
"""Milliseconds since 1970 until the end of the year 9999, the last that a `datetime` can have."""


class Prefix(StrEnum):
    """The kind of thing that an id belongs to."""

    TENANT = "ten"
    JOB = "job"
    INSTANCE = "ins"
    NODE = "nod"
    BACKFILL = "bkf"
    BACKFILL_GROUP = "bkg"
    KEY = "key"
    SESSION = "ses"
    PARKED = "pkd"
    SOURCE = "src"
    ALERT = "alr"
    INCIDENT = "inc"
    CAUSE = "cau"
    PACED_REPLAY = "prp"


def compose(shard: int, millis: int, entropy: int) -> UUID:
    """Return the id for a shard, a time in milliseconds since 1970 and 62 random bits."""
    return UUID(int=(millis & (1 << 48) - 1) << 80 | 0x7 << 76 | shard << 64 | 0b10 << 62 | entropy & (1 << 62) - 1)


def shard_in(id_: UUID) -> int:
    """Return the shard of an id: where its row lives."""
    return id_.int >> 64 & 0xFFF


def creation_time(id_: UUID) -> datetime:
    """Return when an id was created, to the millisecond; for an id that we did not make, at latest the year 9999."""
    return datetime.fromtimestamp(min(id_.int >> 80, LAST_MS) / 1000, UTC)


def encode_id(id_: UUID) -> str:
    """Return the 26 characters of an id, without a prefix."""
    number, pair = id_.int, PAIRS
    a, b, c = number >> 80, number >> 40 & 0xFF_FFFF_FFFF, number & 0xFF_FFFF_FFFF  # shifting small numbers is faster
    return (
        f"{pair[a >> 40]}{pair[a >> 30 & 1023]}{pair[a >> 20 & 1023]}{pair[a >> 10 & 1023]}{pair[a & 1023]}"
        f"{pair[b >> 30]}{pair[b >> 20 & 1023]}{pair[b >> 10 & 1023]}{pair[b & 1023]}"
        f"{pair[c >> 30]}{pair[c >> 20 & 1023]}{pair[c >> 10 & 1023]}{pair[c & 1023]}"
    )


def public(prefix: Prefix, id_: UUID) -> str:
    """Return the public form: `job_` and 26 characters."""
    return prefix + "_" + encode_id(id_)


def private(prefix: Prefix, text: str) -> UUID:
    """Return the UUID of a public id; raises `NotFound` for any other text."""
    head, _, tail = text.partition("_")
    if head == prefix and len(tail) == LENGTH and tail.isascii() and tail[0] <= "7":
        try:
            return UUID(int=int(tail.translate(DIGITS), 32))
        except ValueError:
            pass
    raise NotFound(f"{text!r} is not the id of a {prefix.name.lower()}")
