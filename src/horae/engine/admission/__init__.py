"""Each matured timer runs, is held back, or is skipped.

A node has a number of slots. Classes get them by their shares, tenants by their weights; then the target must have
room and the limits must allow the call. What a gate holds back waits at that gate and costs nobody else their turn. A
fire that is held back for more than a moment is recorded all the same: its schedule goes on, and the row says that it
waits. Where several tenants have work, none of them holds more than half of the slots: calls that hang hold theirs for
as long as their timeouts, and nobody can take them back.

**The work for one decision is bounded.** Each call that is offered, admitted, held back or answered costs a constant
number of steps, amortised, and the logarithm of a heap. The number does not depend on how many wait, on how many
targets, tenants or limits there are, on how many desks are full or breakers open. Why it holds:

1. Calls wait in *flows*: one target, one class, one desk. Turns are taken by flows. A gate that closes takes one flow
   from its turn; whoever waits in the flow is not looked at.
2. A target has at most one flow for each class and desk. When it has room again, only those are looked at.
3. A desk that is full is taken from its turn as a whole, in each of the nine classes.
4. A tenant at its bound is taken from its turn as a whole, in each class and at each desk.
5. A call that a limit refuses moves to the queue of that limit, and leaves it only when the limit has room.
6. What waits for a time is in a heap: one entry for each target, and one for each queue with unrecorded fires.
7. Periodic looks (`ask_again`, desks that were full) visit a fixed number of places and go on where they stopped.

`tests/engine/test_steps.py` counts the executed lines of this package and keeps it so.
"""
