"""Cron expressions: read or refused; what was read fires later than asked, in few steps, and can be said aloud."""

from datetime import UTC, datetime

from horae.domain.cron import MAX_STEPS, Dialect, describe, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.zones.dst import POLICIES
from horae.domain.zones.zones import zone

DIALECTS = (None, *Dialect)
ZONES = tuple(map(zone, ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai")))
AFTER = datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC)
SEEDS = (
    b"\0\0* * * * *",
    b"\0\1*/5 9-17 * * MON-FRI",
    b"\0\2@daily",
    b"\2\30 */5 * * * ?",
    b"\3\0000 0 12 L * ?",
    b"\3\0010 15 10 ? * 6#3",
    b"\3\0020 30 2 LW * ?",
    b"\4\0030 0 0 29 2 ? 2028/4",
    b"\1\4H H(0-7) * * *",
)


def feed(data: bytes) -> None:
    """The first two bytes choose dialect, zone and policy."""
    if len(data) < 2:
        return
    dialect, where, policy = (
        DIALECTS[data[0] % len(DIALECTS)],
        ZONES[data[1] % len(ZONES)],
        POLICIES[data[1] // len(ZONES) % len(POLICIES)],
    )
    try:
        cron = parse(data[2:].decode(errors="replace"), dialect, salt="tenant/job")
    except InvalidSchedule:
        return
    first = cron.next(AFTER, where, policy)
    assert first is None or first > AFTER
    second = None if first is None else cron.next(first, where, policy)
    assert second is None or (first is not None and second > first)
    assert cron.find(int(AFTER.timestamp()), where, policy)[1] <= MAX_STEPS
    assert describe(cron, "en")
    assert describe(cron, "zh")
    assert parse(cron.text, cron.dialect, salt="tenant/job") == cron
