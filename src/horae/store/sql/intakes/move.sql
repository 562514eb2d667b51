-- Always one row. What nobody looked for just now stays as it was.
insert into intake_position as p (channel_id, tenant_id, looked_at, taken_at, taken, parked, waiting, error)
values ($1, $2, $3, case when $4::bigint > 0 then $3::timestamptz end, $4, $5, $6, $7)
on conflict (channel_id) do update
set looked_at = excluded.looked_at, taken_at = coalesce(excluded.taken_at, p.taken_at),
    taken = p.taken + excluded.taken, parked = p.parked + excluded.parked,
    waiting = coalesce(excluded.waiting, p.waiting), error = excluded.error
returning p.taken
