"""Limits that nodes share: rates are granted as calls per frame, concurrency as permits in fair shares.

A node asks for a slice: calls in each of the next frames, and permits for the calls that it runs and wants to run. The
grants of all nodes together never exceed the limit; the node that waited longest is served first.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.ids import shard_in
from horae.domain.limits.frames import (
    FRAME_S,
    KEPT_FRAMES,
    MAX_FRAMES_AHEAD,
    Inflow,
    Timeline,
    frame_of,
    frame_start,
)
from horae.domain.names import fit_length
from horae.domain.placement import Layout, Placement

SLICE_S: Final = 0.25
"""Seconds that one slice is meant for."""
NODE_ASK_REMEMBERED: Final = timedelta(seconds=1)
"""A node that did not ask within this time no longer counts as waiting."""
NEAR_FRAMES: Final = 2
"""In frames this near, calls that are not granted go to any node: the node whose share they are would ask too late."""
MAX_KEY_CHARACTERS: Final = 300
QUOTA_PLACEMENT: Final = Placement(Layout.NEIGHBOURS, 16)
"""Where the limits of every tenant are counted, whatever its own placement: nodes of two releases must use one row."""


class Limit(msgspec.Struct, frozen=True, omit_defaults=True):
    """At most `rate` calls per second with `burst` at once, and `concurrency` at the same time; None: no limit."""

    rate: float | None = None
    burst: float | None = None
    concurrency: int | None = None

    def __post_init__(self) -> None:
        if any(value is not None and value <= 0 for value in (self.rate, self.burst, self.concurrency)):
            raise Invalid("rate, burst and concurrency of a limit lie above zero")

    @property
    def limits(self) -> bool:
        """Whether it limits anything."""
        return self.rate is not None or self.concurrency is not None

    @property
    def depth(self) -> float:
        """Tokens of a bucket that is used without frames; the tokens of one second where no burst is named."""
        rate = self.rate or 0.0
        return max(1.0, rate * SLICE_S, rate if self.burst is None else self.burst)

    @property
    def most_at_once(self) -> float:
        """How many calls a window may have beyond the rate: the burst, at least two frames, and one for rounding."""
        return max(self.burst or 0.0, 2 * FRAME_S * (self.rate or 0.0)) + 1.0

    @property
    def inflow(self) -> Inflow:
        """The tokens per frame, and the depth.

        A window of time may touch one frame more than it lasts, so the depth is lower by the gain of one frame.
        """
        gain = FRAME_S * (self.rate or 0.0)
        return Inflow(gain, self.most_at_once - gain)

    def least(self, other: "Limit") -> "Limit":
        """Return the limit that keeps both limits."""
        if self == other:
            return self
        rates = [limit.rate for limit in (self, other) if limit.rate is not None]
        bursts = [limit.most_at_once - 1.0 for limit in (self, other) if limit.rate is not None]
        most = [limit.concurrency for limit in (self, other) if limit.concurrency is not None]
        return Limit(min(rates, default=None), min(bursts, default=None), min(most, default=None))


def key_name(kind: str, name: object) -> str:
    """Return the name of a limit key, short enough for its row."""
    return fit_length(f"{kind}/{name}", MAX_KEY_CHARACTERS)


class Key(NamedTuple):
    """A limit key: a tenant and a name such as `job/…` or `target/…`."""

    tenant_id: UUID
    name: str

    @property
    def counts_requests(self) -> bool:
        """Whether it limits the requests to a target, and not the runs that they start there."""
        return self.name.startswith("target/")

    @property
    def shard(self) -> int:
        """The shard of its row, the same for every node."""
        return QUOTA_PLACEMENT.shard(shard_in(self.tenant_id), f"quota/{self.name}")


class Bucket(NamedTuple):
    """The row of a rate: its timeline from the frame that begins at `refilled_at` on.

    `tokens` excludes the calls in `granted`. Nodes of the previous release read only the tokens, and must not spend
    tokens that are granted already.
    """

    tokens: float
    refilled_at: datetime
    granted: Sequence[float] = ()

    @classmethod
    def of(cls, timeline: Timeline) -> "Bucket":
        """Return the row for a timeline."""
        return cls(timeline.tokens - sum(timeline.granted), frame_start(timeline.frame), timeline.granted)

    @classmethod
    def full(cls, limit: Limit, now: datetime) -> "Bucket":
        """Return the row of a rate that was never used."""
        return cls(limit.inflow.depth, now)

    def timeline(self, limit: Limit, now: datetime) -> Timeline:
        """Return the timeline from `KEPT_FRAMES` before now on.

        A row that lies far ahead of now was written before a clock was set back; its tokens are not used.
        """
        frame, inflow, granted = frame_of(now), limit.inflow, tuple(map(int, self.granted))
        began = frame_of(self.refilled_at)
        if began > frame + MAX_FRAMES_AHEAD:
            return Timeline(frame, 0.0)
        return Timeline(began, min(inflow.depth, self.tokens + sum(granted)), granted).advance(
            frame - KEPT_FRAMES, inflow
        )


class Ask(NamedTuple):
    """What a node wants of a key: calls, and permits.

    `need` is how many calls it makes per frame, `backlog` how many wait, `had` the calls it has by frame, `back` calls
    that it had and does not make, `ahead` for how many frames it asks. `keep` is how many permits it uses now, `wanted`
    how many it would like in total.
    """

    need: int = 0
    backlog: int = 0
    back: Mapping[int, int] = {}
    had: Mapping[int, int] = {}
    ahead: int = 0
    keep: int = 0
    wanted: int = 0


class LimitHolder(NamedTuple):
    """What a living node holds and wants."""

    incarnation: UUID
    held: int
    wanted: int
    asked: float
    served_at: datetime | None
    seen_at: datetime


class LimitGrant(NamedTuple):
    """What a node gets: `calls` by frame, `held` permits, and the `share` of permits to shrink to as its calls end.

    `holders` is how many nodes share the limit.
    """

    calls: Mapping[int, int]
    held: int
    share: int
    holders: int


def shares(permits: int, wanted: Sequence[int]) -> list[int]:
    """Divide permits into equal whole parts, none larger than wanted. A remainder goes to the first in the sequence."""
    given, left = [0] * len(wanted), max(0, permits)
    while left and (unsatisfied := [n for n, want in enumerate(wanted) if want > given[n]]):
        each = max(1, left // len(unsatisfied))
        for n in unsatisfied:
            part = min(each, wanted[n] - given[n], left)
            given[n], left = given[n] + part, left - part
    return given


def decide(
    limit: Limit, bucket: Bucket, me: LimitHolder, ask: Ask, others: Sequence[LimitHolder], now: datetime
) -> tuple[Bucket, LimitGrant]:
    """Return what one node gets now, and the bucket afterwards. `me` says when this node was last served.

    1. Only nodes that asked within `NODE_ASK_REMEMBERED` compete.
    2. Rate: return the calls that were not made (`back`), then grant calls in the frames ahead, and store the timeline.
    3. Concurrency: divide the permits (`_permits`).
    """
    fresh = [other for other in others if now - other.seen_at <= NODE_ASK_REMEMBERED]
    calls: dict[int, int] = {}
    if limit.rate is not None:
        whole = bucket.timeline(limit, now).take_back(ask.back)
        rivals = [other for other in fresh if other.asked > 0]
        ahead = whole.advance(frame_of(now), limit.inflow)
        bucket = Bucket.of(whole.join(_grant_calls(limit.inflow, ahead, me, ask, rivals, calls)))
    held, share = _permits(limit, me, ask, others, fresh)
    return bucket, LimitGrant(calls, held, share, len(others) + 1)


def _grant_calls(
    inflow: Inflow, timeline: Timeline, me: LimitHolder, ask: Ask, rivals: Sequence[LimitHolder], calls: dict[int, int]
) -> Timeline:
    """Grant a node its calls in the frames ahead; writes them into `calls`.

    1. In a near frame the node gets all it asks for. In a frame further ahead each node has a share, and a remainder
       goes to the nodes in turn.
    2. Of the room that no node asks for, the node gets a part, so that it need not ask before an additional call.
    """
    backlog, generous = ask.backlog, ceil(inflow.gain) if ask.need or ask.backlog else 0
    asked = sum(ceil(other.asked) for other in rivals)
    for ahead in range(ask.ahead):
        frame, room = timeline.frame + ahead, timeline.room(ahead, inflow)
        had = ask.had.get(frame, 0)
        part = ask.need + backlog
        if rivals and ahead >= NEAR_FRAMES:
            part = _share_of(me, part, rivals, room + _granted_in(timeline, ahead), frame)
        more = max(0, min(room, part - had))
        more += min(generous, max(0, room - more - asked) // (len(rivals) + 2))
        if more:
            timeline = timeline.grant(ahead, more)
            calls[frame] = more
        backlog = max(0, backlog - max(0, had + more - ask.need))
    return timeline


def _granted_in(timeline: Timeline, ahead: int) -> int:
    return timeline.granted[ahead] if ahead < len(timeline.granted) else 0


def _share_of(me: LimitHolder, want: int, rivals: Sequence[LimitHolder], total: int, frame: int) -> int:
    """Return my part of a frame. Which node is first changes from frame to frame."""
    wants = sorted([(me.incarnation, want), *((other.incarnation, ceil(other.asked)) for other in rivals)])
    first = frame % len(wants)
    queue = wants[first:] + wants[:first]
    dealt = shares(total, [want for _, want in queue])
    return dealt[next(n for n, (incarnation, _) in enumerate(queue) if incarnation == me.incarnation)]


def _permits(
    limit: Limit, me: LimitHolder, ask: Ask, others: Sequence[LimitHolder], fresh: Sequence[LimitHolder]
) -> tuple[int, int]:
    """Return how many permits a node holds now, and its share.

    1. Free permits are the limit without those that this node keeps and those that others hold.
    2. All nodes divide the limit, in the order of `_turn`. A node that is not fresh wants only what it holds.
    3. This node takes free permits up to its share.
    4. If no other node wants more than it holds, the share of this node is everything that is free.
    """
    if limit.concurrency is None:
        return 0, 0
    free = limit.concurrency - ask.keep - sum(other.held for other in others)
    wants = [me._replace(wanted=ask.wanted), *(other if other in fresh else _without_demand(other) for other in others)]
    queue = sorted(wants, key=_turn)
    dealt = shares(limit.concurrency, [max(one.wanted, 0) for one in queue])
    mine = dealt[next(n for n, one in enumerate(queue) if one.incarnation == me.incarnation)]
    held = ask.keep + max(0, min(free, mine - ask.keep))
    contended = any(other.wanted > other.held for other in fresh)
    return held, mine if contended else max(0, ask.keep + free)


def _without_demand(holder: LimitHolder) -> LimitHolder:
    """Return a node that has not asked for a while: it keeps what it holds and wants no more."""
    return holder._replace(wanted=holder.held)


def _turn(holder: LimitHolder) -> tuple[bool, float, UUID]:
    """Sort key: a node that was never served comes first, then the node that was served longest ago."""
    served = holder.served_at
    return served is not None, served.timestamp() if served is not None else 0.0, holder.incarnation
