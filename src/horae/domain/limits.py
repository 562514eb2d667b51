"""Limits shared by several nodes: calls granted by the frame for rates, fair shares for how much runs at once.

A node asks for a slice: calls in each of the next frames, permits for what it runs and would like to run.
What is granted to all of them together never exceeds the limit; who waited longest is served first.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.frames import FRAME_S, KEPT_FRAMES, MAX_FRAMES_AHEAD, Inflow, Timeline, frame_of, frame_start
from horae.domain.ids import shard_in
from horae.domain.names import fitted
from horae.domain.placement import Layout, Placement

SLICE: Final = 0.25
"""Seconds that one slice is meant for."""
FRESH: Final = timedelta(seconds=1)
"""Who did not ask for that long no longer waits."""
NEAR_FRAMES: Final = 2
"""Frames so near that a call not yet granted in them is anyone's: whose share it was does not come for it in time."""
MAX_KEY_CHARACTERS: Final = 300
QUOTA_PLACEMENT: Final = Placement(Layout.NEIGHBOURS, 16)
"""Where every tenant's limits are counted, whatever its own placement: nodes of two releases must meet at one row."""


class Limit(msgspec.Struct, frozen=True, omit_defaults=True):
    """At most `rate` a second with `burst` at once, and at most `concurrency` at the same time; None: no limit."""

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
        """How many tokens a bucket holds that is spent at once, without frames; a second's where no burst is named."""
        rate = self.rate or 0.0
        return max(1.0, rate * SLICE, rate if self.burst is None else self.burst)

    @property
    def most_at_once(self) -> float:
        """How many calls any window may bring beyond the rate: the burst, two frames at least, and one for rounding."""
        return max(self.burst or 0.0, 2 * FRAME_S * (self.rate or 0.0)) + 1.0

    @property
    def inflow(self) -> Inflow:
        """What a frame brings. A window sees parts of one frame more than it lasts: so much less is saved up."""
        gain = FRAME_S * (self.rate or 0.0)
        return Inflow(gain, self.most_at_once - gain)

    def least(self, other: "Limit") -> "Limit":
        """What keeps both of two limits."""
        if self == other:
            return self
        rates = [limit.rate for limit in (self, other) if limit.rate is not None]
        bursts = [limit.most_at_once - 1.0 for limit in (self, other) if limit.rate is not None]
        most = [limit.concurrency for limit in (self, other) if limit.concurrency is not None]
        return Limit(min(rates, default=None), min(bursts, default=None), min(most, default=None))


def key_name(kind: str, name: object) -> str:
    """The name of a key, short enough for its row."""
    return fitted(f"{kind}/{name}", MAX_KEY_CHARACTERS)


class Key(NamedTuple):
    """What is limited, in its tenant's words: `job/…`, `target/…`."""

    tenant_id: UUID
    name: str

    @property
    def counts_requests(self) -> bool:
        """Whether it limits the requests to a target, and not what they begin there."""
        return self.name.startswith("target/")

    @property
    def shard(self) -> int:
        """Where its row lives: always the same shard, whoever asks."""
        return QUOTA_PLACEMENT.shard(shard_in(self.tenant_id), f"quota/{self.name}")


class Bucket(NamedTuple):
    """The row of a rate: its timeline from the frame that begins at `refilled_at`, less what is `granted` in it.

    Nodes of the release before know the tokens alone: they must not find there what is granted already.
    """

    tokens: float
    refilled_at: datetime
    granted: Sequence[float] = ()

    @classmethod
    def of(cls, timeline: Timeline) -> "Bucket":
        """The row for a timeline."""
        return cls(timeline.tokens - sum(timeline.granted), frame_start(timeline.frame), timeline.granted)

    @classmethod
    def full(cls, limit: Limit, now: datetime) -> "Bucket":
        """The row of a rate that was never asked for."""
        return cls(limit.inflow.depth, now)

    def timeline(self, limit: Limit, now: datetime) -> Timeline:
        """The timeline from a little before now on.

        A row that lies far ahead of now was written by a clock that was set back since.
        """
        frame, inflow, granted = frame_of(now), limit.inflow, tuple(map(int, self.granted))
        began = frame_of(self.refilled_at)
        if began > frame + MAX_FRAMES_AHEAD:
            return Timeline(frame, 0.0)
        return Timeline(began, min(inflow.depth, self.tokens + sum(granted)), granted).advance(
            frame - KEPT_FRAMES, inflow
        )


class Ask(NamedTuple):
    """What a node wants of a key: calls, and the permits it keeps out of those it would like.

    `need` is how many calls it makes in a frame, `backlog` how many wait, `had` the calls it has by frame, `back` those
    it had and does not make, `ahead` for how many frames it asks.
    """

    need: int = 0
    backlog: int = 0
    back: Mapping[int, int] = {}
    had: Mapping[int, int] = {}
    ahead: int = 0
    keep: int = 0
    wanted: int = 0


class Holder(NamedTuple):
    """What another living node holds and wants."""

    incarnation: UUID
    held: int
    wanted: int
    asked: float
    served_at: datetime | None
    seen_at: datetime


class Grant(NamedTuple):
    """What a node gets. `share`: to how many permits it comes down as its calls end; `holders`: how many share."""

    calls: Mapping[int, int]
    held: int
    share: int
    holders: int


def shares(permits: int, wanted: Sequence[int]) -> list[int]:
    """Equal whole parts that nobody wants less of; what does not divide goes to those who stand first."""
    given, left = [0] * len(wanted), max(0, permits)
    while left and (hungry := [n for n, want in enumerate(wanted) if want > given[n]]):
        each = max(1, left // len(hungry))
        for n in hungry:
            part = min(each, wanted[n] - given[n], left)
            given[n], left = given[n] + part, left - part
    return given


def decide(
    limit: Limit, bucket: Bucket, me: Holder, ask: Ask, others: Sequence[Holder], now: datetime
) -> tuple[Bucket, Grant]:
    """What one node gets now, and the bucket afterwards. `me` says when I was last served."""
    fresh = [other for other in others if now - other.seen_at <= FRESH]
    calls: dict[int, int] = {}
    if limit.rate is not None:
        whole = bucket.timeline(limit, now).take_back(ask.back)
        rivals = [other for other in fresh if other.asked > 0]
        ahead = whole.advance(frame_of(now), limit.inflow)
        bucket = Bucket.of(whole.joined(_deal(limit.inflow, ahead, me, ask, rivals, calls)))
    held, share = _permits(limit, me, ask, others, fresh)
    return bucket, Grant(calls, held, share, len(others) + 1)


def _deal(
    inflow: Inflow, timeline: Timeline, me: Holder, ask: Ask, rivals: Sequence[Holder], calls: dict[int, int]
) -> Timeline:
    """Give a node its calls in the frames ahead, into `calls`.

    1. A frame that is near goes to whoever comes. In one further ahead everyone has a share, in turn where it does not
       divide.
    2. Of what nobody asks for, a node gets a part, so that it need not ask before it can make a call more.
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


def _share_of(me: Holder, want: int, rivals: Sequence[Holder], total: int, frame: int) -> int:
    """My part of a frame. Who stands first changes from frame to frame."""
    wants = sorted([(me.incarnation, want), *((other.incarnation, ceil(other.asked)) for other in rivals)])
    first = frame % len(wants)
    queue = wants[first:] + wants[:first]
    dealt = shares(total, [want for _, want in queue])
    return dealt[next(n for n, (incarnation, _) in enumerate(queue) if incarnation == me.incarnation)]


def _permits(limit: Limit, me: Holder, ask: Ask, others: Sequence[Holder], fresh: Sequence[Holder]) -> tuple[int, int]:
    if limit.concurrency is None:
        return 0, 0
    free = limit.concurrency - ask.keep - sum(other.held for other in others)
    wants = [me._replace(wanted=ask.wanted), *(other if other in fresh else _content(other) for other in others)]
    queue = sorted(wants, key=_turn)
    dealt = shares(limit.concurrency, [max(one.wanted, 0) for one in queue])
    mine = dealt[next(n for n, one in enumerate(queue) if one.incarnation == me.incarnation)]
    held = ask.keep + max(0, min(free, mine - ask.keep))
    contended = any(other.wanted > other.held for other in fresh)
    return held, mine if contended else max(0, ask.keep + free)


def _content(holder: Holder) -> Holder:
    """Someone not heard of for a while keeps what he has and wants no more."""
    return holder._replace(wanted=holder.held)


def _turn(holder: Holder) -> tuple[bool, float, UUID]:
    """Who was never served comes first, then who was served longest ago."""
    served = holder.served_at
    return served is not None, served.timestamp() if served is not None else 0.0, holder.incarnation
