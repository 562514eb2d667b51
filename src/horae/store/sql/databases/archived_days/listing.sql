-- All days, the oldest first, and whether all transactions have ended that could write to them.
select day, archive_id, state, generation, rows, bytes, archived_at, dropped_at, cleared_until,
       closing_xid < txid_snapshot_xmin(txid_current_snapshot()) as is_closed
from archived_day
order by day
