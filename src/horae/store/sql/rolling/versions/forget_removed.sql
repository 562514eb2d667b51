-- :before :limit
-- Fewer rows than the limit: no more subjects were removed by messages so long ago.
with old as materialized (
    select v.ctid from subject_version v
    where not v.present and v.changed_at < :before
      and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
    order by v.changed_at
    limit :limit
    for update skip locked)
delete from subject_version v using old where v.ctid = old.ctid
returning v.shard_id
