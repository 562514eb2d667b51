"""Where a row lives: 4,096 fixed logical shards, and the few of them that one tenant uses.

A tenant starts at a base and spreads over a width fixed for ever when it is created, so that a small tenant
lives in few cells and any name or business key finds its shard without a lookup.
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple

SHARDS: Final = 4096
WIDTHS: Final = frozenset({1, 4, 16, 64, 256, 4096})
DEFAULT_WIDTH: Final = 16


def spot(text: str) -> int:
    """A stable number for a text, the same in every process and release."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def shard_of(base: int, width: int, text: str) -> int:
    """The shard of a name or business key in a tenant that starts at `base` and is `width` shards wide."""
    return (base + spot(text) % width) % SHARDS


def home_of(tenant_name: str) -> int:
    """A tenant's home shard, which is also the base its other rows are counted from."""
    return spot(tenant_name) % SHARDS


@lru_cache(4096)
def part_of(held: frozenset[int], base: int, width: int) -> float:
    """Which part of the shards that start at `base` and are `width` wide is among those held."""
    return sum((base + n) % SHARDS in held for n in range(width)) / width


class Run(NamedTuple):
    """Neighbouring shards, both ends included. Scans ask for runs: an index can filter a range, not a list."""

    first: int
    last: int

    @property
    def width(self) -> int:
        """How many shards it spans."""
        return self.last - self.first + 1


NARROW: Final = 4
"""Runs below this width are asked for shard by shard: a scan by time would read a thousand rows of others for each."""


def runs_of(shards: Iterable[int]) -> tuple[list[Run], list[int]]:
    """The wide runs in a set of shards, and the shards that stand in none."""
    wide: list[Run] = []
    narrow: list[int] = []
    for run in _runs(sorted(set(shards))):
        if run.width >= NARROW:
            wide.append(run)
        else:
            narrow += range(run.first, run.last + 1)
    return wide, narrow


def _runs(shards: list[int]) -> Iterable[Run]:
    first = last = None
    for shard in shards:
        if first is not None and last is not None and shard == last + 1:
            last = shard
            continue
        if first is not None and last is not None:
            yield Run(first, last)
        first = last = shard
    if first is not None and last is not None:
        yield Run(first, last)
