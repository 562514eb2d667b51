"""Placement: in which of the 4,096 fixed logical shards a row lives.

A name or a business key finds its shard without a lookup: its hash selects one of the tenant's shards. The width of a
tenant is how many shards it has; the layout is which ones.

1. A spread tenant has its shards at equal distances: 64 shards are 64 apart. They have the same remainder by 64.
2. A cell holds all shards of some remainders (`deal_to_cells`), so a tenant of up to 64 shards lives in one cell.
3. The nodes of a cell hold equal runs of its shards in the order of their numbers (`domain.nodes.leases.allotment`).
4. So each of N nodes holds width / N of a tenant's shards, rounded up or down. Every node works for every tenant that
   is at least N wide, and still asks for its shards as one run.

Tenants that were created before there were layouts have neighbouring shards, which mostly belong to one node. They stay
there.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple

SHARDS: Final = 4096
WIDTHS: Final = frozenset({1, 4, 16, 64, 256, 4096})
"""The widths that a tenant may have."""
DEFAULT_WIDTH: Final = 64
"""The smallest width whose shares are even to within a fifth for every number of nodes up to 16."""
GROUPS: Final = 64
"""Shards with the same remainder by this number form a group, which one cell holds."""


class Layout(StrEnum):
    """Which shards a tenant has, counted from its base."""

    NEIGHBOURS = "NEIGHBOURS"
    SPREAD = "SPREAD"


class Placement(NamedTuple):
    """How many shards hold the rows of a tenant, or of one of its types, and which."""

    layout: Layout
    width: int

    @property
    def stride(self) -> int:
        """The distance from one shard to the next."""
        return 1 if self.layout == Layout.NEIGHBOURS else SHARDS // self.width

    def shard(self, base: int, text: str) -> int:
        """Return the shard of a name or business key in a tenant that starts at `base`."""
        return (base + spot(text) % self.width * self.stride) % SHARDS

    def shards(self, base: int) -> list[int]:
        """Return every shard of a tenant that starts at `base`, in order."""
        return sorted((base + n * self.stride) % SHARDS for n in range(self.width))

    def with_width(self, width: int | None) -> "Placement":
        """Return the same layout with another width; None keeps the width."""
        return self if width is None else self._replace(width=width)


def spot(text: str) -> int:
    """Return a stable number for a text, the same in every process and release."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def home_of(tenant_name: str) -> int:
    """Return a tenant's home shard, which is also the base of its other shards."""
    return spot(tenant_name) % SHARDS


@lru_cache(4096)
def part_of(held: frozenset[int], base: int, placement: Placement) -> float:
    """Return which part of a tenant's shards is among those held."""
    return sum(shard in held for shard in placement.shards(base)) / placement.width


def deal_to_cells(cells: int) -> list[list[int]]:
    """Return the shards of each cell of a new deployment, as evenly as possible.

    A cell gets whole groups, neighbouring ones together. With more cells than groups, groups are divided between cells.
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
        """Return the shards that lie within the run."""
        return [shard for shard in shards if self.first <= shard <= self.last]


NARROW: Final = 4
"""Shorter runs are scanned shard by shard: a scan by time would read a thousand rows of other shards for each."""


def runs_of(shards: Iterable[int], here: Iterable[int]) -> tuple[list[Run], list[int]]:
    """Return the wide runs in a set of shards of a cell, and the shards that belong to none.

    `here` are the shards that the cell holds. Only these can interrupt a run: a number that belongs to another cell
    does not, and a run may span it. Readers must skip rows of such a shard, which a move may have left.
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
