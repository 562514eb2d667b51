-- :before :limit
-- Zero rows: no alert was resolved that long ago. Their messages go with them.
with old as materialized (
    select a.id from alert a where a.resolved_at < :before order by a.resolved_at limit :limit for update skip locked),
messages as (delete from alert_message m using old where m.alert_id = old.id)
delete from alert a using old where a.id = old.id
returning a.id
