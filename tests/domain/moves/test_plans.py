"""Which shards move, so that cells are even or one is empty."""

from collections import Counter

from horae.domain.moves.plans import plan_drain, plan_rebalance
from horae.domain.placement import GROUPS, SHARDS, deal_to_cells


def dealt(*cells):
    return dict(zip(cells, deal_to_cells(len(cells)), strict=True))


def after(held, planned):
    where = {shard: cell for cell, shards in held.items() for shard in shards}
    assert all(where[move.shard] == move.source != move.target for move in planned)
    assert len({move.shard for move in planned}) == len(planned)
    where |= {move.shard: move.target for move in planned}
    return where


def test_cells_that_are_even_stay_as_they_are():
    assert plan_rebalance(dealt("a", "b", "c")) == []


def test_a_new_cell_gets_its_part_in_whole_groups():
    held = dealt("a", "b") | {"c": []}
    where = after(held, plan_rebalance(held))
    sizes = Counter(where.values())
    assert max(sizes.values()) - min(sizes.values()) <= SHARDS // GROUPS
    for group in range(GROUPS):
        assert len({where[shard] for shard in range(group, SHARDS, GROUPS)}) == 1


def test_no_more_shards_move_than_the_new_cell_gets():
    held = dealt("a", "b", "c") | {"d": []}
    assert len(plan_rebalance(held)) == SHARDS // 4


def test_a_drained_cell_is_empty_and_the_others_are_even():
    held = dealt("a", "b", "c")
    sizes = Counter(after(held, plan_drain(held, "b")).values())
    assert set(sizes) == {"a", "c"}
    assert abs(sizes["a"] - sizes["c"]) <= SHARDS // GROUPS
