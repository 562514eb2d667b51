"""How the living nodes of a cell share its shards: in equal runs of neighbours, because scans ask for runs.

Every node computes the same deal from the same rows and moves towards it: it takes what is free of its own
allotment, and gives back what is dealt to another. Nobody tells anybody what to do.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple
from uuid import UUID


class Plan(NamedTuple):
    """What a node does about the shards of a cell after one look at them."""

    keep: frozenset[int]
    give: frozenset[int]
    """Ours by name, but dealt to another."""
    take: frozenset[int]
    """Dealt to us, and nobody's: someone gave them back, or nobody ever had them."""
    inherit: frozenset[int]
    """Dealt to us, and in the name of a dead node: there may be many at once."""
    strays: frozenset[int]
    """Free, but dealt to another, who will come for them."""
    settled: bool
    """Everything dealt to us is ours."""


def allotment(shards: Collection[int], nodes: Collection[UUID], me: UUID) -> frozenset[int]:
    """My part when the shards are dealt in equal runs, in the order of incarnations; nothing when I am not dealt in."""
    if me not in nodes:
        return frozenset()
    place, parts, ordered = sorted(nodes).index(me), len(nodes), sorted(shards)
    return frozenset(ordered[len(ordered) * place // parts : len(ordered) * (place + 1) // parts])


def plan(owners: Mapping[int, UUID | None], dealt_in: Collection[UUID], living: Collection[UUID], me: UUID) -> Plan:
    """Compare the deal among the nodes `dealt_in` with who owns what; a draining node lives, but is not dealt in."""
    mine = frozenset(shard for shard, owner in owners.items() if owner == me)
    ours = allotment(owners, dealt_in, me)
    nobodys = frozenset(shard for shard, owner in owners.items() if owner is None)
    orphaned = frozenset(
        shard for shard, owner in owners.items() if owner is not None and owner != me and owner not in living
    )
    return Plan(
        keep=mine & ours,
        give=mine - ours,
        take=nobodys & ours,
        inherit=orphaned & ours,
        strays=(nobodys | orphaned) - ours,
        settled=ours <= mine,
    )
