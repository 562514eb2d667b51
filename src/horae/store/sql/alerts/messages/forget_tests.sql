-- :before :limit
-- Zero rows: no test was sent that long ago.
with old as materialized (
    select m.alert_id, m.sequence, m.channel from alert_message m
    where m.created_at < :before and not exists (select from alert a where a.id = m.alert_id)
    limit :limit for update skip locked)
delete from alert_message m using old
where (m.alert_id, m.sequence, m.channel) = (old.alert_id, old.sequence, old.channel)
returning m.alert_id
