-- Always one row. An expired incarnation may come back: what it owned may have been taken meanwhile.
insert into node (incarnation, name, started_at, seen_at, expires_at)
values ($1, $2, $3, $3, $4)
on conflict (incarnation) do update set seen_at = excluded.seen_at, expires_at = excluded.expires_at
