"""How the living nodes of a cell divide its shards: into equal runs of neighbours, because scans ask for runs.

Every node computes the same division from the same rows and moves towards it. It takes free shards of its own part and
gives back shards of other parts. No node coordinates the others.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple
from uuid import UUID


class LeasePlan(NamedTuple):
    """What a node does about the shards of a cell after one look at them."""

    keep: frozenset[int]
    give: frozenset[int]
    """Owned by us, but part of another node's allotment."""
    take: frozenset[int]
    """Part of our allotment and without an owner: given back, or never leased."""
    inherit: frozenset[int]
    """Part of our allotment and owned by a dead node; these may be many at once."""
    unclaimed: frozenset[int]
    """Without a living owner, but part of another node's allotment, which should take them."""
    settled: bool
    """We own our whole allotment."""


def allotment(shards: Collection[int], nodes: Collection[UUID], me: UUID) -> frozenset[int]:
    """Return my part of the shards: equal runs, in the order of incarnations; empty if `me` is not in `nodes`."""
    if me not in nodes:
        return frozenset()
    place, parts, ordered = sorted(nodes).index(me), len(nodes), sorted(shards)
    return frozenset(ordered[len(ordered) * place // parts : len(ordered) * (place + 1) // parts])


def plan(
    owners: Mapping[int, UUID | None], dealt_in: Collection[UUID], living: Collection[UUID], me: UUID
) -> LeasePlan:
    """Compare my allotment among the nodes `dealt_in` with the owners. A draining node is living, but not dealt in."""
    mine = frozenset(shard for shard, owner in owners.items() if owner == me)
    ours = allotment(owners, dealt_in, me)
    nobodys = frozenset(shard for shard, owner in owners.items() if owner is None)
    orphaned = frozenset(
        shard for shard, owner in owners.items() if owner is not None and owner != me and owner not in living
    )
    return LeasePlan(
        keep=mine & ours,
        give=mine - ours,
        take=nobodys & ours,
        inherit=orphaned & ours,
        unclaimed=(nobodys | orphaned) - ours,
        settled=ours <= mine,
    )
