-- :expired_before :limit
-- Zero rows: every node that wrote one lives, or has only just died (:expired_before).
with orphaned as materialized (
    select h.ctid from hold h
    where not exists (select from node n where n.incarnation = h.incarnation and n.expires_at > :expired_before)
    limit :limit for update skip locked)
delete from hold h using orphaned where h.ctid = orphaned.ctid
returning h.incarnation
