-- :tenant_id :day :bytes
-- Always a row: the bytes of the day so far, with these.
insert into log_usage as u (bytes, day, tenant_id) values (:bytes, :day, :tenant_id)
on conflict (tenant_id) do update
set bytes = excluded.bytes + case when u.day = excluded.day then u.bytes else 0 end, day = excluded.day
returning u.bytes
