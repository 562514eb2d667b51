-- :channel_id :tenant_id :blocks :xid :at :moved_at
-- Zero rows: its places are there already.
insert into feed_position (channel_id, tenant_id, block, xid, at, moved_at)
select :channel_id, :tenant_id, b.block, :xid, :at, :moved_at from unnest(:blocks::smallint[]) as b(block)
on conflict (channel_id, block) do nothing
returning block
