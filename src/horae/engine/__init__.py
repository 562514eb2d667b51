"""The engine: what a scheduler node does, from the scan of due rows to the result of a call.

A node (`node`) works in every cell, on the shards that it leases there (`leases`). In one cell (`cell_runner`) a fire
takes these steps:

1. Scan. The feeder reads job cursors and waiting instances that are due within 60 s into the agenda, a timing wheel.
2. Due. When a timer is due, its job definition and its tenant's limits are loaded, and it is offered to admission.
3. Admission. The call gets a slot when its class, tenant, target and shared limits allow it. Until then it waits.
4. Fire or claim. The `dispatcher` takes admitted calls in batches. A cursor is fired: one statement compares the
   cursor, moves it to the next fire and inserts a RUNNING instance. A waiting instance is claimed: one statement makes
   it RUNNING. Both write a random token, the owner and a deadline.
5. Send. The call goes to its target.
6. Settle. The completer writes results in batches: the instance ends and becomes history, or it is due again.
7. Rescue. A RUNNING instance is made due again when its deadline has passed or its node is gone.

Why this is correct. The rows decide; everything in memory is a hint.

- Stale memory: the writes of steps 4, 6 and 7 compare the row first. Zero rows mean that another node was faster or
  that the job has changed; the hint is dropped.
- Lost memory: the row is still due. The feeder also scans for overdue rows: the last 30 s at every scan, everything
  every 60 s while there is work, and everything when the node gains shards.
- Crash before the commit of step 4: nothing has changed, and the next owner of the shard scans the row.
- Crash after it: the row is RUNNING and its owner is dead, so it is rescued. The target may get the call twice, with
  the same idempotency key. Delivery is at least once, but a fire never has two instances.
- Lost answer of a commit: one of the two cases above. A committed row that this node does not know of is rescued after
  its deadline.
- Two nodes with the same shard: see `leases`.
- Clock jumps: the engine reads no wall clock of its machine. The time of a cell is its database's clock, carried on by
  CLOCK_BOOTTIME (`runtime.clock`). If the database's clock jumps by more than 2 s, dispatch in that cell stops until
  the clock is right again or a person confirms it. The next fire is computed from the cursor, not from the present
  time, and each fire that a cursor passes leaves a row. So a jump neither loses nor repeats a fire.
"""
