"""A zone as a row of spans: inside one span local time is UTC plus a constant.

For each DST policy a span is cut to the local times that may fire in it, which settles every question about
clock changes once per zone instead of once per fire:

- `first` cuts the repeated hour from the span after the change, `second` from the one before, `both` none;
- `fire_after` remembers the local times that the change jumped over, the span's *hole*.
"""

from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from horae.domain.dst import DstPolicy, Gap, Overlap
from horae.domain.zones import PinnedZone, pinned

DAY = 86_400
WEEK = 7 * DAY
YEAR = 366 * DAY
START = -62_135_424_000  # 3 January of the year 1: no zone is so far behind that its day lies before that year
END = 7_258_118_400  # 1 January 2200: no schedule is followed beyond it
READ_AHEAD = 20 * YEAR
USUALLY_LISTED = 2_145_916_800  # 2038: until then most zone files name every change
MARGIN = 2 * DAY  # a change just behind the known part could still cut into its last day
OFFSETS = -1  # where a zone keeps its uncut spans, beside the modes of the policies


class Span(NamedTuple):
    """Local times `low <= t < high` happen at `t - offset`. Seconds since 1970, local ones read as UTC."""

    start: int
    offset: int
    low: int
    high: int
    hole: int | None


class Line(NamedTuple):
    """A zone's spans under one policy, as far as they have been read; `starts` is their index."""

    starts: tuple[int, ...]
    spans: tuple[Span, ...]
    until: int


def line(zone: ZoneInfo, policy: DstPolicy, beyond: int | None = None) -> Line:
    """The zone under that policy, read further than `beyond` where given and where time goes on."""
    if beyond is None and isinstance(zone, PinnedZone):
        known: Line | None = zone.lines.get(policy.mode)
        if known is not None:
            return known
    return _read(pinned(zone), policy, beyond)


def reaching(zone: ZoneInfo, policy: DstPolicy, until: int) -> Line:
    """The zone under that policy, read at least until then, or to the end of what is followed at all."""
    known = line(zone, policy)
    while known.until < until and known.until < END - MARGIN:
        known = line(zone, policy, beyond=known.until)
    return known


def _read(zone: PinnedZone, policy: DstPolicy, beyond: int | None) -> Line:
    """Cuts what is known of the zone, after reading on where it does not reach. All of it is kept."""
    offsets, until = zone.lines.get(OFFSETS) or _listed(zone)
    if beyond is not None and until - MARGIN <= beyond:
        reach = min(until + READ_AHEAD, END)
        offsets, until = offsets + _probe(zone, until, reach), reach
    zone.lines[OFFSETS] = offsets, until
    zone.lines[policy.mode] = _cut(offsets, until, policy)
    known: Line = zone.lines[policy.mode]
    return known


def offset_at(zone: ZoneInfo, second: int) -> int:
    """Seconds that local time is ahead of UTC at that instant."""
    ahead = datetime.fromtimestamp(second, zone).utcoffset()
    assert ahead is not None
    return int(ahead.total_seconds())


def _listed(zone: PinnedZone) -> tuple[list[tuple[int, int]], int]:
    """Where the offset changes, as (start, offset), and until when that is known."""
    spans = [(START, offset_at(zone, zone.changes[0] - 1) if zone.changes else offset_at(zone, 0))]
    for at in zone.changes:
        ahead = offset_at(zone, at)
        if ahead != spans[-1][1] and at > START:
            spans.append((at, ahead))
    # Behind the listed changes a rule repeats every year. Two years without a change: it has none.
    listed = max(zone.changes[-1], 0) if zone.changes else 0
    yearly = _probe(zone, listed, listed + 2 * YEAR)
    if not yearly:
        return spans, END
    reach = max(listed + 2 * YEAR, USUALLY_LISTED)
    return spans + yearly + _probe(zone, listed + 2 * YEAR, reach), reach


def _probe(zone: ZoneInfo, since: int, until: int) -> list[tuple[int, int]]:
    """Changes of a yearly rule, found by looking once a week: no rule keeps summer time for less."""
    found = []
    before, ahead = since, offset_at(zone, since)
    for at in range(since + WEEK, until + WEEK, WEEK):
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


def _cut(offsets: list[tuple[int, int]], until: int, policy: DstPolicy) -> Line:
    """Each span reduced to the local times that fire in it."""
    spans = []
    until -= MARGIN
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
        spans.append(Span(start, offset, low, high, hole))
    return Line(tuple(start for start, _ in offsets), tuple(spans), until)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
