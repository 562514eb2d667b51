"""Which shards this node looks after. Leases only save work: correctness lives in the rows."""

from horae.engine.leases.keeper import Who
from horae.engine.leases.leases import Changed, Leases

__all__ = ["Changed", "Leases", "Who"]
