"""Copies API keys and role bindings from their home cell to all others, within two seconds.

It runs in API servers, which need these rows, and not in nodes, which may not read them.
"""

from horae.store.identity import api_keys, role_bindings
from horae.store.protocol import StoreProtocol
from horae.store.row_level_security import PLATFORM, restrict
from horae.upkeep.copies import Copier


class IdentityCopier(Copier):
    """A duty: copy the API keys and role bindings of every cell to every other cell."""

    def __init__(self, store: StoreProtocol) -> None:
        super().__init__(restrict(store, PLATFORM), (api_keys, role_bindings))
