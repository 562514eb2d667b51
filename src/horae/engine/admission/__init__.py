"""Admission: decides when a due call may use one of the node's slots.

A slot is one call in flight. A call passes these gates, in this order:

1. Its class may use a slot. Classes get slots by their shares, and a part is reserved for each class.
2. The dispatcher of its cell has room.
3. Its tenant may use a slot. If several tenants have work, none of them holds more than half of all slots: a call that
   hangs keeps its slot until its timeout.
4. Its target has room: the window, the circuit breaker and the retry budget allow the call.
5. Every shared limit that counts the call allows it.

Inside a class tenants take turns by their weights, and the targets of a tenant take turns. A call that a gate holds
back waits at that gate and delays no other call. A recurring fire that waits for some seconds is recorded without a
slot: its instance is inserted, the row says that it waits, and its schedule goes on.

**The work for one decision is bounded.** To offer, admit, hold back or answer one call takes a constant number of
steps, amortised, and some heap operations. The number does not depend on how many calls wait, how many targets, tenants
and limits exist, how many dispatchers are full or how many breakers are open. The reasons:

1. Calls wait in *flows*: one target, one class, one dispatcher. Flows take turns, not calls. A gate that closes takes
   one flow out of the turns, without a look at the calls in it. Overdue calls of a flow wait behind those on time.
2. A target has at most one flow per class and dispatcher. When the target has room again, only these are looked at.
3. A full dispatcher is taken out of the turns as a whole, in each of the nine classes.
4. A tenant at its bound is taken out of the turns as a whole, per class and dispatcher.
5. A call that a limit refuses moves to the queue of that limit, and leaves it only when the limit has room.
6. What waits for a time is in a heap: one entry per target, and one per queue with unrecorded fires.
7. Periodic looks (`recheck_gates`, dispatchers that were full) visit a fixed number of places and continue where they
   stopped.

`tests/engine/test_steps.py` counts the executed lines of this package and checks this.
"""
