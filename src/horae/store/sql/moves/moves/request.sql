-- :shard :id :target :requested_by :now
-- Zero rows: the shard is not active here, or another move of it has not ended.
insert into shard_move (id, shard_id, target, requested_by, requested_at, changed_at, lease_until)
select :id, :shard::smallint, :target, :requested_by, :now, :now, :now
where {fence}
on conflict do nothing
returning id
