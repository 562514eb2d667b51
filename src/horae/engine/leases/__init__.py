"""Leases: which shards of each cell this node works on.

A lease saves work; it does not protect data. Normally exactly one node works on a shard:

1. One owner in the row. A shard row names at most one owner, an incarnation: the random id of one process start. `take`
   changes the owner only if the owner's term has ended or there is none, under a row lock, and only if the epoch is
   still the one that was read before the lock. Every change of owner raises the epoch.
2. The node stops first. The database issues the term: its own clock plus the TTL. The node counts 7/8 of the TTL from
   the tick at which it *sent* the renewal. So it stops before the term ends, and no two clocks are compared. A renewal
   that fails changes nothing: the lease runs out.
3. Hand-over in order. To give a shard back, a node first stops the engine's work on it, then releases the row. To take
   one, it first changes the row, then starts the work.
4. No leader. Every node computes the same distribution from the rows and moves towards it. Nodes that read different
   rows may want the same shard; step 1 decides.
5. Renewals are not blocked. The leases run in a thread with its own event loop and connections. Other threads read one
   attribute, which is replaced as a whole.
6. Clock jumps. Terms are compared with the time of the database that issued them. A node that was last seen more than
   5 s in the future counts as dead, so a clock that was ahead leaves no endless term.

A zombie is a node that was stopped after its check of the lease and goes on when another node owns the shard. It does
no harm, because the rows do not rely on leases:

7. A fire compares the version and the time of the cursor, and moves it in the same statement. The second node finds
   zero rows.
8. A claim needs a waiting row, and makes it RUNNING with a new random token. The second node finds zero rows.
9. A result is written only over the state, attempt and token of its claim. A rescued instance may get the same attempt
   number again, but never the same token. So the zombie's result finds zero rows and is dropped.
10. The fence: a write needs shards that are open in this cell. After a shard has moved to another cell, a write in the
    old cell finds zero rows.
11. A zombie may still send a call that another node sends too. Both calls carry the same idempotency key.

`tests/engine/test_rows_owners.py` runs several nodes with `enforced=False`: each believes that it owns every shard.
"""

from horae.engine.leases.keeper import NodeIdentity
from horae.engine.leases.leases import Changed, Leases

__all__ = ["Changed", "Leases", "NodeIdentity"]
