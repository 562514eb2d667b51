-- :now
-- Zero rows: someone noted this very moment.
insert into feed_mark (at, xid) values (:now, txid_snapshot_xmin(txid_current_snapshot()))
on conflict (at) do nothing
returning xid
