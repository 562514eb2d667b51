-- :channel_id :tenant_id :now :taken :parked :waiting :error
-- Always one row. What nobody looked for just now stays as it was.
insert into intake_position as p (channel_id, tenant_id, looked_at, taken_at, taken, parked, waiting, error)
values (:channel_id, :tenant_id, :now, case when :taken::bigint > 0 then :now::timestamptz end, :taken, :parked,
        :waiting, :error)
on conflict (channel_id) do update
set looked_at = excluded.looked_at, taken_at = coalesce(excluded.taken_at, p.taken_at),
    taken = p.taken + excluded.taken, parked = p.parked + excluded.parked,
    waiting = coalesce(excluded.waiting, p.waiting), error = excluded.error
returning p.taken
