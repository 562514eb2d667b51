-- :channel_id :tenant_id :from_xid :until_xid :at
-- Zero rows: nobody has begun there, or it stands before that. What was delivered behind :until_xid
-- is skipped, and then it goes on.
update feed_position p
set xid = :from_xid, at = least(p.at, :at::timestamptz), revision = p.revision + 1,
    skip_from = case when :until_xid::bigint < coalesce(p.skip_to, p.xid) then :until_xid::bigint end,
    skip_to = case when :until_xid::bigint < coalesce(p.skip_to, p.xid) then coalesce(p.skip_to, p.xid) end
where p.channel_id = :channel_id and p.tenant_id = :tenant_id and p.xid > :from_xid
returning p.block
