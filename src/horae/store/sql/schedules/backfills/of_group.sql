-- :group_id :tenant_id :limit
-- Zero rows: no part of this backfill is in this cell.
select b.* from backfill b where b.group_id = :group_id and b.tenant_id = :tenant_id
order by b.id
limit :limit
