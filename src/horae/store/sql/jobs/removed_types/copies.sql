-- :before :limit
-- Zero rows: this cell has no copy of a type that was removed so long ago.
select r.home_shard as shard_id, r.id from reference r
where r.changed_at < :before and r.kind = 'job' and r.body ->> 'status' = 'REMOVED'
order by r.changed_at limit :limit
