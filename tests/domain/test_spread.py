"""One tenant, all nodes: how a tenant's shards, and so its fires, are shared by the nodes of its cells."""

from collections import Counter
from functools import cache
from uuid import UUID

import pytest

from horae.domain.ids import compose
from horae.domain.nodes.leases import allotment
from horae.domain.placement import DEFAULT_WIDTH, NARROW, Layout, deal_to_cells, home_of, runs_of
from horae.domain.tenants.tenants import Tenant

NAMES = [f"tenant-{number}" for number in range(100)]
MOST_NODES = 16


def a_tenant(name, width, layout=Layout.SPREAD):
    return Tenant(compose(home_of(name), 0, 0), name, width, layout=layout)


@cache
def deals(cells, nodes):
    """For each node the shards that it is dealt in each cell."""
    living, dealt = [UUID(int=number) for number in range(nodes)], deal_to_cells(cells)
    return [[allotment(here, living, node) for here in dealt] for node in living]


@cache
def owners(nodes):
    """Which node of a single cell holds which shard."""
    return {shard: node for node, [part] in enumerate(deals(1, nodes)) for shard in part}


def shares(shards, cells, nodes):
    """How many of the shards each node holds, over all cells."""
    return [sum(shard in part for part in node for shard in shards) for node in deals(cells, nodes)]


@pytest.mark.parametrize("cells", [1, 2, 3])
@pytest.mark.parametrize("nodes", range(1, MOST_NODES + 1))
@pytest.mark.parametrize("width", [16, 64])
def test_every_node_holds_its_even_part_of_every_tenants_shards_rounded_up_or_down(width, nodes, cells):
    for name in NAMES:
        held = shares(a_tenant(name, width).shards(), cells, nodes)
        assert sum(held) == width
        assert max(held) - min(held) <= 1
        assert min(held) >= 1


@pytest.mark.parametrize("nodes", range(1, MOST_NODES + 1))
def test_a_tenant_of_the_default_width_is_shared_within_a_fifth_of_even(nodes):
    even = DEFAULT_WIDTH / nodes
    for name in NAMES:
        held = shares(a_tenant(name, DEFAULT_WIDTH).shards(), 1, nodes)
        assert all(abs(many - even) < even / 5 for many in held)


@pytest.mark.parametrize("nodes", [2, 3, 8])
def test_the_names_of_one_tenants_jobs_are_shared_within_a_fifth_of_even(nodes):
    owner = owners(nodes)
    for name in NAMES[:20]:
        tenant = a_tenant(name, DEFAULT_WIDTH)
        held = Counter(owner[tenant.shard(f"job-{job}")] for job in range(4000))
        assert all(abs(held[node] - 4000 / nodes) < 4000 / nodes / 5 for node in range(nodes))


def test_neighbouring_shards_are_mostly_one_nodes():
    """What a tenant that was made before there were layouts keeps until it is widened."""
    alone = [max(shares(a_tenant(name, 16, Layout.NEIGHBOURS).shards(), 1, 2)) == 16 for name in NAMES]
    assert sum(alone) > 95


@pytest.mark.parametrize("cells", [1, 2, 3, 8])
@pytest.mark.parametrize("nodes", range(1, MOST_NODES + 1))
def test_a_node_asks_for_its_shards_of_a_cell_as_one_run(nodes, cells):
    for node in deals(cells, nodes):
        for part, here in zip(node, deal_to_cells(cells), strict=True):
            assert len(part) >= NARROW
            wide, narrow = runs_of(part, here)
            assert (len(wide), narrow) == (1, [])
