"""Which parts of the cells are this node's business, by the shards that it holds."""

from horae.engine.node import Node
from horae.store.cells import Cell
from horae.store.protocol import CellProtocol
from horae.store.store import Store


class ShardRoles:
    """What a node does for whole cells, or for all of them, because it holds a certain shard."""

    def __init__(self, store: Store, node: Node) -> None:
        self._store = store
        self._node = node

    def own_cell(self, cell: CellProtocol) -> Cell:
        """The cell of the node's store; `cell` may be the owner's view of it."""
        [own] = [one for one in self._store.cells if one.name == cell.name]
        return own

    def held_shards(self, cell: CellProtocol) -> frozenset[int]:
        """The shards of a cell that this node holds."""
        return self._node.leases.held_shards(self.own_cell(cell))

    def chains_audit(self, cell: CellProtocol) -> bool:
        """Whether this node chains the audit rows of a cell: the node that holds the first shard does."""
        return min(self._store.shards_of(self.own_cell(cell)), default=-1) in self.held_shards(cell)

    def relayed_shards(self, cell: CellProtocol) -> frozenset[int]:
        """The shards whose requests this node relays in a cell: those that it holds.

        The node that chains the audit rows also relays what moved shards have left there.
        """
        held = self.held_shards(cell)
        return held | self._store.left_shards(self.own_cell(cell)) if self.chains_audit(cell) else held

    def speaks_for_all(self) -> bool:
        """Whether this node speaks for all: the one that holds the first shard of the first cell that answers does.

        A cell without shards is passed over: it is new, or was drained.
        """
        answering = (cell for cell in self._store.cells if cell.is_open and not cell.reach.is_down)
        cell = next((cell for cell in answering if self._store.shards_of(cell)), None)
        return cell is not None and self.chains_audit(cell)
