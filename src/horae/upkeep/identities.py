"""Carries keys and role bindings from their home cell to all others, at most two seconds behind.

It runs beside the doors, which need them, and not in nodes, which may not read them.
"""

from horae.store import bindings, keys
from horae.store.cells import Store
from horae.store.walls import PLATFORM, behind
from horae.upkeep.copies import Copier


class IdentityCopier(Copier):
    """Brings every cell's keys and bindings to every other cell."""

    def __init__(self, store: Store) -> None:
        super().__init__(behind(store, PLATFORM), (keys, bindings))
