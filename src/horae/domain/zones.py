"""Time zones from the pinned `tzdata` package, and from nowhere else.

The standard `ZoneInfo(name)` prefers whatever the operating system carries, which may be years old. So no
zone here is ever looked up by name through it: the bytes come from the package, and a `ZoneInfo` that
somebody else made is exchanged for ours of the same name before it is used.
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
    """A zone whose rules we read ourselves. `changes` are the seconds since 1970 that its file lists."""

    changes: tuple[int, ...]
    lines: dict[int, Any]  # filled by `timeline`, one entry per DST policy

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process reads the same name from its own pinned package."""
        return zone, (self.key,)


@cache
def names() -> frozenset[str]:
    """Every zone name the pinned package knows."""
    listed = resources.files("tzdata").joinpath("zones").read_text(encoding="ascii")
    return frozenset(listed.split())


def tzdata_version() -> str:
    """The release of the IANA rules in use, such as `2026a`."""
    return str(import_module("tzdata").IANA_VERSION)


@cache
def zone(name: str) -> ZoneInfo:
    """The zone of that name; refused when the pinned package has none."""
    if name not in names():
        raise InvalidSchedule(f"there is no time zone {name!r} in tzdata {tzdata_version()}")
    return read(name, resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes())


def read(name: str, data: bytes) -> ZoneInfo:
    """A zone from the bytes of a compiled zone file: ours, or another release's to compare with."""
    made = PinnedZone.from_file(BytesIO(data), key=name)
    assert isinstance(made, PinnedZone)
    made.changes = _changes(data)
    made.lines = {}
    return made


def pinned(given: ZoneInfo) -> PinnedZone:
    """Ours, whoever made the given one."""
    if isinstance(given, PinnedZone):
        return given
    if not getattr(given, "key", None):
        raise InvalidSchedule("a time zone without a name cannot be looked up in the pinned tzdata")
    ours = zone(given.key)
    assert isinstance(ours, PinnedZone)
    return ours


def pinned_zones(only: Iterable[str] | None = None) -> dict[str, ZoneInfo]:
    """Many zones by name; all of them when none is named."""
    return {name: zone(name) for name in sorted(names() if only is None else only)}


def _changes(data: bytes) -> tuple[int, ...]:
    """The transition times of a TZif file (RFC 8536), from its 64-bit block where there is one."""
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
