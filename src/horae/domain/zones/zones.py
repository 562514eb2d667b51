"""Time zones from the pinned `tzdata` package only.

The standard `ZoneInfo(name)` prefers the files of the operating system, which may be years old. So zones are read from
the bytes of the package, and a `ZoneInfo` from elsewhere is replaced by ours of the same name before it is used.
"""

from collections.abc import Iterable
from functools import cache
from importlib import import_module, resources
from io import BytesIO
from struct import unpack_from
from typing import Any
from zoneinfo import ZoneInfo

from horae.domain.errors import InvalidSchedule


class PinnedZone(ZoneInfo):
    """A zone whose rules we read ourselves. `changes` are the changes in its file, in seconds since 1970."""

    changes: tuple[int, ...]
    lines: dict[int, Any]  # filled by `timeline`, one entry per DST policy

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name only: another process reads the zone from its own pinned package."""
        return zone, (self.key,)


@cache
def names() -> frozenset[str]:
    """Return every zone name of the pinned package."""
    listed = resources.files("tzdata").joinpath("zones").read_text(encoding="ascii")
    return frozenset(listed.split())


def tzdata_version() -> str:
    """Return the release of the IANA rules in use, such as `2026a`."""
    return str(import_module("tzdata").IANA_VERSION)


@cache
def zone(name: str) -> ZoneInfo:
    """Return the zone of that name; raises `InvalidSchedule` where the pinned package has none."""
    if name not in names():
        raise InvalidSchedule(f"there is no time zone {name!r} in tzdata {tzdata_version()}")
    return read(name, resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes())


def read(name: str, data: bytes) -> ZoneInfo:
    """Return a zone from the bytes of a compiled zone file, of ours or of another release."""
    made = PinnedZone.from_file(BytesIO(data), key=name)
    assert isinstance(made, PinnedZone)
    made.changes = _changes(data)
    made.lines = {}
    return made


def pinned_zone(given: ZoneInfo) -> PinnedZone:
    """Return our zone of the same name."""
    if isinstance(given, PinnedZone):
        return given
    if not getattr(given, "key", None):
        raise InvalidSchedule("a time zone without a name cannot be looked up in the pinned tzdata")
    ours = zone(given.key)
    assert isinstance(ours, PinnedZone)
    return ours


def pinned_zones(only: Iterable[str] | None = None) -> dict[str, ZoneInfo]:
    """Return zones by name; all of them where `only` is None."""
    return {name: zone(name) for name in sorted(names() if only is None else only)}


def _changes(data: bytes) -> tuple[int, ...]:
    """Return the transition times of a TZif file (RFC 8536), from its 64-bit block where it has one."""
    if data[:4] != b"TZif":
        raise InvalidSchedule("not a compiled time zone file")
    width, start = 4, 0
    counts = unpack_from(">6l", data, 20)
    if data[4:5] >= b"2":
        isut, isstd, leap, times, types, chars = counts
        start = 44 + times * 5 + types * 6 + chars + leap * 8 + isstd + isut
        counts, width = unpack_from(">6l", data, start + 20), 8
    times = counts[3]
    return unpack_from(f">{times}{'q' if width == 8 else 'l'}", data, start + 44)
