-- Zero rows: nobody has begun there, or it stands before that. What was told behind $4 is skipped, and then it goes on.
update feed_position p
set xid = $3, at = least(p.at, $5::timestamptz), revision = p.revision + 1,
    skip_from = case when $4::bigint < coalesce(p.skip_to, p.xid) then $4::bigint end,
    skip_to = case when $4::bigint < coalesce(p.skip_to, p.xid) then coalesce(p.skip_to, p.xid) end
where p.channel_id = $1 and p.tenant_id = $2 and p.xid > $3
returning p.block
