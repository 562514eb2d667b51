-- :from_xid :xid :moved_at
-- Zero rows: another node has moved it since it was read.
insert into alert_position as p (xid, moved_at) values (:xid, :moved_at)
on conflict (only_row) do update set xid = excluded.xid, moved_at = excluded.moved_at where p.xid = :from_xid
returning p.xid
