-- :shards :xids
-- No row for a shard: it is closed here. A position never goes back: two relays may have met.
insert into relay (shard_id, xid)
select g.shard_id, g.xid from unnest(:shards::smallint[], :xids::bigint[]) as g(shard_id, xid)
where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
on conflict (shard_id) do update set xid = greatest(relay.xid, excluded.xid)
returning shard_id
