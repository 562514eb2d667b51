-- :day :archive_id
-- Zero rows: the day is known already. A transaction that could still write to the day has begun before this one.
insert into archived_day (day, archive_id, closing_xid, state)
values (:day, :archive_id, txid_current(), 'CLOSING')
on conflict (day) do nothing
returning day
