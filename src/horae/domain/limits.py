"""Limits shared by several nodes: token buckets for rates, fair shares for how much runs at once.

A node asks for a slice: tokens for the next quarter of a second, permits for what it runs and would like to run.
What is granted to all of them together never exceeds the limit; who waited longest is served first.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.ids import shard_in
from horae.domain.placement import Layout, Placement

SLICE: Final = 0.25
"""Seconds that one slice is meant for."""
FRESH: Final = timedelta(seconds=1)
"""Who did not ask for that long no longer waits."""
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
        """How many tokens the bucket holds: never less than one, nor than what a slice needs to keep up the rate."""
        rate = self.rate or 0.0
        return max(1.0, rate * SLICE, rate if self.burst is None else self.burst)


class Key(NamedTuple):
    """What is limited, in its tenant's words: `job/…`, `target/…`."""

    tenant_id: UUID
    name: str

    @property
    def shard(self) -> int:
        """Where its row lives: always the same shard, whoever asks."""
        return QUOTA_PLACEMENT.shard(shard_in(self.tenant_id), f"quota/{self.name}")


class Bucket(NamedTuple):
    """Tokens as of a time."""

    tokens: float
    refilled_at: datetime


class Ask(NamedTuple):
    """What a node wants of a key: more tokens or some back, and the permits it keeps out of those it would like."""

    tokens: float = 0.0
    back: float = 0.0
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

    tokens: float
    held: int
    share: int
    holders: int


def refill(limit: Limit, bucket: Bucket, now: datetime) -> Bucket:
    """The bucket as of now. A clock that is behind another's adds nothing, and never takes time back."""
    passed = max(timedelta(), now - bucket.refilled_at).total_seconds()
    tokens = min(limit.depth, bucket.tokens + (limit.rate or 0.0) * passed)
    return Bucket(tokens, max(now, bucket.refilled_at))


def portion(available: float, mine: float, others: Sequence[float]) -> float:
    """My part when nobody gets more than he asks for and the rest is equal."""
    left, sharing = available, len(others) + 1
    for ask in sorted(others):
        if ask >= left / sharing:
            break
        left, sharing = left - ask, sharing - 1
    return max(0.0, min(mine, left / sharing))


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
    bucket = refill(limit, bucket, now)
    bucket = bucket._replace(tokens=min(limit.depth, bucket.tokens + ask.back))
    tokens = portion(bucket.tokens, ask.tokens, [other.asked for other in fresh if other.asked > 0])
    held, share = _permits(limit, me, ask, others, fresh)
    return bucket._replace(tokens=bucket.tokens - tokens), Grant(tokens, held, share, len(others) + 1)


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
