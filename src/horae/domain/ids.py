"""Ids: UUIDv7 whose 12 `rand_a` bits are the shard, so that any id routes itself without a lookup.

They sort roughly by birth, which keeps index pages warm, and are never used as a sequence. People see a
prefix and 26 letters (`job_01hv…`), machines see the uuid.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from horae.domain.errors import NotFound

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no i, l, o, u to misread
PYTHONS: Final = "0123456789abcdefghijklmnopqrstuv"
DIGITS: Final = "".join(dict(zip(ALPHABET, PYTHONS, strict=True)).get(chr(code), "!") for code in range(128))
"""Our letters as `int` reads them; what is none of ours becomes what it refuses."""
PAIRS: Final = tuple(
    high + low for high in ALPHABET for low in ALPHABET
)  # ten bits at a time: keys are made at every fire
LENGTH: Final = 26
ENTROPY_BITS: Final = 62


class Prefix(StrEnum):
    """What an id is of."""

    TENANT = "ten"
    JOB = "job"
    INSTANCE = "ins"
    NODE = "nod"
    BACKFILL = "bkf"
    KEY = "key"
    SESSION = "ses"
    PARKED = "pkd"
    SOURCE = "src"


def compose(shard: int, millis: int, entropy: int) -> UUID:
    """The id for a shard, a time in milliseconds since 1970 and 62 random bits."""
    return UUID(int=(millis & (1 << 48) - 1) << 80 | 0x7 << 76 | shard << 64 | 0b10 << 62 | entropy & (1 << 62) - 1)


def shard_in(id_: UUID) -> int:
    """The shard an id was born in, which is where it lives."""
    return id_.int >> 64 & 0xFFF


def born_at(id_: UUID) -> datetime:
    """When an id was made, to the millisecond."""
    return datetime.fromtimestamp((id_.int >> 80) / 1000, UTC)


def letters(id_: UUID) -> str:
    """The 26 letters of an id, without a prefix."""
    number, pair = id_.int, PAIRS
    a, b, c = number >> 80, number >> 40 & 0xFF_FFFF_FFFF, number & 0xFF_FFFF_FFFF  # small numbers shift faster
    return (
        f"{pair[a >> 40]}{pair[a >> 30 & 1023]}{pair[a >> 20 & 1023]}{pair[a >> 10 & 1023]}{pair[a & 1023]}"
        f"{pair[b >> 30]}{pair[b >> 20 & 1023]}{pair[b >> 10 & 1023]}{pair[b & 1023]}"
        f"{pair[c >> 30]}{pair[c >> 20 & 1023]}{pair[c >> 10 & 1023]}{pair[c & 1023]}"
    )


def public(prefix: Prefix, id_: UUID) -> str:
    """The form people see: `job_` and 26 letters."""
    return prefix + "_" + letters(id_)


def private(prefix: Prefix, text: str) -> UUID:
    """The uuid behind a public id. What is no such id is simply not found."""
    head, _, tail = text.partition("_")
    if head == prefix and len(tail) == LENGTH and tail.isascii() and tail[0] <= "7":
        try:
            return UUID(int=int(tail.translate(DIGITS), 32))
        except ValueError:
            pass
    raise NotFound(f"{text!r} is not the id of a {prefix.name.lower()}")
