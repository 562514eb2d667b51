-- Every transaction before this one has ended: what it wrote is seen by the next statement.
select pg_snapshot_xmin(pg_current_snapshot())::xid::text as horizon
