-- :shard :id :name :width :zone :now :layout
-- Zero rows: the name is taken, or the shard is closed.
insert into tenant (shard_id, id, name, width, zone, created_at, layout)
select :shard, :id, :name, :width, :zone, :now, :layout
where {fence}
on conflict do nothing
returning id
