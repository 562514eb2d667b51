-- :tenant_id :before_id :limit
-- Newest first, before an id.
select p.* from paced_replay p where p.tenant_id = :tenant_id and p.id < :before_id order by p.id desc limit :limit
