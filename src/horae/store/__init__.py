"""Statements on PostgreSQL and the rows they take and return.

1. One statement is one file under `sql/`, and exactly one function runs it: `claim` of `instances/instances.py` runs
   `sql/instances/instances/claim.sql`. A file names its parameters in the first line (see `statements`). The function
   passes parameters and converts rows. It decides nothing and never commits. Rules are in `domain`; `service`, `engine`
   and `upkeep` choose the statements of a transaction.
2. A cell is one PostgreSQL cluster and holds some of the 4,096 shards. A transaction (`Tx`) is always in one cell.
3. The first write of a transaction carries the fence: the condition that each shard it writes to is ACTIVE in this
   cell. While a shard moves, or when a write is routed to the wrong cell, the statement finds no row instead of writing
   to the wrong place. Later statements of the same transaction rely on the first one.
4. `now` is a parameter: a statement compares and writes `Tx.now`, the cell's time when the transaction began, so a test
   can move the clock. Only the clock, heartbeats and health checks ask PostgreSQL for the time.
5. Every write names the row that it expects, and the row decides races. Transactions are READ COMMITTED: the second of
   two writers waits for the first, checks its condition again and finds no row.
   - A token marks one claim of one attempt. A result is written only where state, attempt and token still match.
   - A version guard is a version, generation, revision, step or cursor time that was read before. The write takes
     effect only where it is still the same.
6. Zero rows is an expected answer, not an error: the row has changed since it was read, the attempt belongs to another
   owner, or the shard is closed. Nothing was written for that row. The comment in a `.sql` file lists the reasons.
   The caller reads and decides again, or drops the result and counts it.
7. A new instance and the row that authorises it (cursor, ledger, dead letter, idempotency key) change in one
   transaction. So two nodes that both believe they own a shard cannot create the same instance twice: leases only avoid
   duplicate work, rows guarantee correctness.

`protocol` says what callers use of a cell and of the store; `cells`, `store`, `transactions` and `row_level_security`
implement it. The modules of `connections` manage connections and their timeouts. What is remembered of
rows between two statements is in `horae.repositories`.
"""
