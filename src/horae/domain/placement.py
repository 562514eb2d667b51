"""Where a row lives: 4,096 fixed logical shards, and the few of them that one tenant uses.

A name or a business key finds its shard without a lookup: its hash picks one of the tenant's shards. How many shards a
tenant has is its width; which ones is its layout.

1. A spread tenant has its shards at equal distances: 64 shards lie 64 apart. They share the remainder by 64.
2. A cell holds all shards of some remainders (`deal_to_cells`), so a tenant of up to 64 shards lives in one cell.
3. The nodes of a cell hold equal runs of its shards in the order of their numbers (`domain.leases.allotment`).
4. So each of N nodes holds width / N of a tenant's shards, rounded up or down: every node works for every tenant that
   is at least N wide, and still asks for its shards as one run.

Tenants that were made before there were layouts have neighbouring shards, which mostly are one node's. They stay there.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple

SHARDS: Final = 4096
WIDTHS: Final = frozenset({1, 4, 16, 64, 256, 4096})
DEFAULT_WIDTH: Final = 64
"""The smallest width whose shares differ from even by less than a fifth for every number of nodes up to 16."""
GROUPS: Final = 64
"""Shards with the same remainder by this number are a group, which one cell holds."""


class Layout(StrEnum):
    """Which shards a tenant has, counted from its base."""

    NEIGHBOURS = "NEIGHBOURS"
    SPREAD = "SPREAD"


class Placement(NamedTuple):
    """How many shards the rows of a tenant, or of one of its types, lie in, and which."""

    layout: Layout
    width: int

    @property
    def stride(self) -> int:
        """How far a shard is from the next."""
        return 1 if self.layout == Layout.NEIGHBOURS else SHARDS // self.width

    def shard(self, base: int, text: str) -> int:
        """The shard of a name or business key in a tenant that starts at `base`."""
        return (base + spot(text) % self.width * self.stride) % SHARDS

    def shards(self, base: int) -> list[int]:
        """Every shard of a tenant that starts at `base`, in order."""
        return sorted((base + n * self.stride) % SHARDS for n in range(self.width))

    def with_width(self, width: int | None) -> "Placement":
        """The same layout over another number of shards; None: over as many."""
        return self if width is None else self._replace(width=width)


def spot(text: str) -> int:
    """A stable number for a text, the same in every process and release."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def home_of(tenant_name: str) -> int:
    """A tenant's home shard, which is also the base its other rows are counted from."""
    return spot(tenant_name) % SHARDS


@lru_cache(4096)
def part_of(held: frozenset[int], base: int, placement: Placement) -> float:
    """Which part of the shards of a tenant that starts at `base` is among those held."""
    return sum(shard in held for shard in placement.shards(base)) / placement.width


def deal_to_cells(cells: int) -> list[list[int]]:
    """The shards of each cell of a new deployment: whole groups, neighbouring ones in one cell, as evenly as they go.

    More cells than there are groups divide groups between them.
    """
    ordered = sorted(range(SHARDS), key=lambda shard: (shard % GROUPS, shard))
    unit = SHARDS // GROUPS if cells <= GROUPS else 1
    cuts = [SHARDS // unit * number // cells * unit for number in range(cells + 1)]
    return [sorted(ordered[cuts[number] : cuts[number + 1]]) for number in range(cells)]


class Run(NamedTuple):
    """From one shard to another, both included. Scans ask for runs: an index can filter a range, not a list."""

    first: int
    last: int

    def among(self, shards: Iterable[int]) -> list[int]:
        """Those of the shards that it spans."""
        return [shard for shard in shards if self.first <= shard <= self.last]


NARROW: Final = 4
"""Runs of fewer shards are asked for shard by shard: a scan by time would read a thousand rows of others for each."""


def runs_of(shards: Iterable[int], here: Iterable[int]) -> tuple[list[Run], list[int]]:
    """The wide runs in a set of shards of a cell, and the shards that stand in none.

    `here` are the shards that the cell holds. Only those lie between two others: a number that belongs to another cell
    breaks no run, and a run may span it. Rows of such a shard, left by a move, are the reader's to pass over.
    """
    wide: list[Run] = []
    narrow: list[int] = []
    for run in _runs(frozenset(shards), here):
        if len(run) >= NARROW:
            wide.append(Run(run[0], run[-1]))
        else:
            narrow += run
    return wide, narrow


def _runs(held: frozenset[int], here: Iterable[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for shard in sorted(held.union(here)):
        if shard in held:
            run.append(shard)
        elif run:
            yield run
            run = []
    if run:
        yield run
