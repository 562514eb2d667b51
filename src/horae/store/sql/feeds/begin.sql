-- Zero rows: its places are there already.
insert into feed_position (channel_id, tenant_id, block, xid, at, moved_at)
select $1, $2, b.block, $4, $5, $6 from unnest($3::smallint[]) as b(block)
on conflict (channel_id, block) do nothing
returning block
