"""A time zone as a sequence of spans: inside one span local time is UTC plus a constant.

For each DST policy a span is cut to the local times that may fire in it. So clock changes are resolved once per zone
instead of once per fire:

- `first` cuts the repeated hour from the span after the change, `second` from the span before it, `both` from none;
- `fire_after` remembers the local times that the change jumped over, the *hole* of the span.
"""

from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from horae.domain.zones.dst import DstPolicy, Gap, Overlap
from horae.domain.zones.zones import PinnedZone, pinned_zone

DAY_S = 86_400
WEEK_S = 7 * DAY_S
LEAP_YEAR_S = 366 * DAY_S
START_EPOCH_S = -62_135_424_000
"""3 January of the year 1, in seconds since 1970: the local day of every zone lies in that year."""
END_EPOCH_S = 7_258_118_400
"""1 January 2200, in seconds since 1970: schedules are not computed beyond it."""
READ_AHEAD_S = 20 * LEAP_YEAR_S
"""Seconds that are read at once."""
USUALLY_LISTED_EPOCH_S = 2_145_916_800
"""The year 2038, in seconds since 1970: until then most zone files list every change."""
UNUSED_END_S = 2 * DAY_S
"""Seconds at the end of the known part that are not used: a change just after it could still cut its last day."""
OFFSETS = -1
"""The key of a zone's uncut spans in `lines`; the other keys are modes of policies."""


class ZoneSpan(NamedTuple):
    """Local times `low <= t < high` occur at `t - offset`. In seconds since 1970; local times are read as UTC."""

    start: int
    offset: int
    low: int
    high: int
    hole: int | None


class ZoneTimeline(NamedTuple):
    """A zone's spans under one policy, as far as they were read; `starts` holds the start of each span."""

    starts: tuple[int, ...]
    spans: tuple[ZoneSpan, ...]
    until: int


def timeline_of(zone: ZoneInfo, policy: DstPolicy, beyond: int | None = None) -> ZoneTimeline:
    """Return the timeline of a zone under a policy; it is extended past `beyond` where given, up to `END_EPOCH_S`."""
    if beyond is None and isinstance(zone, PinnedZone):
        known: ZoneTimeline | None = zone.lines.get(policy.mode)
        if known is not None:
            return known
    return _read(pinned_zone(zone), policy, beyond)


def timeline_until(zone: ZoneInfo, policy: DstPolicy, until: int) -> ZoneTimeline:
    """Return the timeline of a zone under a policy, read at least to `until`, or to the end of computed time."""
    known = timeline_of(zone, policy)
    while known.until < until and known.until < END_EPOCH_S - UNUSED_END_S:
        known = timeline_of(zone, policy, beyond=known.until)
    return known


def _read(zone: PinnedZone, policy: DstPolicy, beyond: int | None) -> ZoneTimeline:
    """Extend what is known of the zone if needed, cut it for the policy, and cache both."""
    offsets, until = zone.lines.get(OFFSETS) or _listed_changes(zone)
    if beyond is not None and until - UNUSED_END_S <= beyond:
        reach = min(until + READ_AHEAD_S, END_EPOCH_S)
        offsets, until = offsets + _probe(zone, until, reach), reach
    zone.lines[OFFSETS] = offsets, until
    zone.lines[policy.mode] = _cut(offsets, until, policy)
    known: ZoneTimeline = zone.lines[policy.mode]
    return known


def offset_at(zone: ZoneInfo, second: int) -> int:
    """Return how many seconds local time is ahead of UTC at that instant."""
    ahead = datetime.fromtimestamp(second, zone).utcoffset()
    assert ahead is not None
    return int(ahead.total_seconds())


def _listed_changes(zone: PinnedZone) -> tuple[list[tuple[int, int]], int]:
    """Return where the offset changes, as (start, offset), and until when that is known."""
    spans = [(START_EPOCH_S, offset_at(zone, zone.changes[0] - 1) if zone.changes else offset_at(zone, 0))]
    for at in zone.changes:
        ahead = offset_at(zone, at)
        if ahead != spans[-1][1] and at > START_EPOCH_S:
            spans.append((at, ahead))
    # After the listed changes a rule repeats every year. Two years without a change: there is no rule.
    listed = max(zone.changes[-1], 0) if zone.changes else 0
    yearly = _probe(zone, listed, listed + 2 * LEAP_YEAR_S)
    if not yearly:
        return spans, END_EPOCH_S
    reach = max(listed + 2 * LEAP_YEAR_S, USUALLY_LISTED_EPOCH_S)
    return spans + yearly + _probe(zone, listed + 2 * LEAP_YEAR_S, reach), reach


def _probe(zone: ZoneInfo, since: int, until: int) -> list[tuple[int, int]]:
    """Find the changes of a yearly rule: look once a week, then by binary search.

    No rule keeps summer time for less than a week.
    """
    found = []
    before, ahead = since, offset_at(zone, since)
    for at in range(since + WEEK_S, until + WEEK_S, WEEK_S):
        look = min(at, until)
        now = offset_at(zone, look)
        if now != ahead:
            low, high = before, look
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset_at(zone, middle) == ahead else (low, middle)
            found.append((high, now))
            ahead = now
        before = look
    return found


def _cut(offsets: list[tuple[int, int]], until: int, policy: DstPolicy) -> ZoneTimeline:
    """Cut each span to the local times that fire in it.

    1. After clocks went back, `first` removes the repeated times from the later span.
    2. After clocks jumped forward, `fire_after` records the start of the skipped times as the span's hole.
    3. Before clocks go back, `second` removes the times that will be repeated from the earlier span.
    """
    spans = []
    until -= UNUSED_END_S
    ends = [start for start, _ in offsets[1:]] + [until]
    for k, (start, offset) in enumerate(offsets):
        low, high, hole = start + offset, ends[k] + offset, None
        if k > 0:
            before = start + offsets[k - 1][1]
            if low < before and policy.overlap is Overlap.FIRST:
                low = before
            if low > before and policy.gap is Gap.FIRE_AFTER:
                hole = before
        if k + 1 < len(offsets) and policy.overlap is Overlap.SECOND:
            high = min(high, ends[k] + offsets[k + 1][1])
        spans.append(ZoneSpan(start, offset, low, high, hole))
    return ZoneTimeline(tuple(start for start, _ in offsets), tuple(spans), until)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
