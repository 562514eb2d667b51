-- :before :limit
-- Zero rows: no type at home here was removed so long ago.
select j.shard_id, j.id from job j
where lower(j.status) in ('completed', 'removed') and j.changed_at < :before and j.status = 'REMOVED'
  and j.definition -> 'trigger' ->> 'kind' in ('keyed', 'rolling')
  and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
order by j.changed_at limit :limit
