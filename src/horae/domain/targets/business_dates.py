"""Times in templates as a business writes them: `{{fire_time | Asia/Shanghai | %Y-%m-%d}}`.

A time may be followed by the name of a zone, by a format, or by both in this order. Without a format it is written as
RFC 3339 with the offset of the zone, without a zone in UTC. Formats are the codes of `strftime` that mean the same on
every machine.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from horae.domain.errors import Invalid
from horae.domain.zones.zones import zone

CODES: Final = "YymdHMSjGVuz%"
"""Codes of a format. Those with names of days and months depend on the machine's language."""
LONGEST_FORMAT: Final = 100
"""Characters of a format."""
CODE: Final = re.compile("%(.?)", re.DOTALL)


def writer(name: str, parts: list[str]) -> Callable[[datetime | None], str | None]:
    """Return the function that writes a time by the zone and the format behind its name."""
    place = zone(parts[0]) if parts and "%" not in parts[0] else None
    rest = parts[1:] if place else parts
    if len(rest) > 1:
        raise Invalid(
            f"{{{{{name}}}}} is followed by a zone, a format, or both in this order, not by {' | '.join(parts)!r}"
        )
    return _writer(place or zone("UTC"), _checked(rest[0]) if rest else None)


def _writer(place: ZoneInfo, format_: str | None) -> Callable[[datetime | None], str | None]:
    if format_ is None:
        return lambda at: None if at is None else at.astimezone(place).isoformat()
    return lambda at: None if at is None else at.astimezone(place).strftime(format_)


def _checked(format_: str) -> str:
    unknown = [code for code in CODE.findall(format_) if not code or code not in CODES]
    if unknown or len(format_) > LONGEST_FORMAT or not format_.isprintable() or "%" not in format_:
        known = " ".join(f"%{code}" for code in CODES)
        raise Invalid(f"{format_!r} is no format of at most {LONGEST_FORMAT} characters; its codes are {known}")
    return format_
