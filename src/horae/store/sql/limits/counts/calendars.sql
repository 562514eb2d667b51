-- :tenant_id :name
-- How many calendars a tenant has at home here, whether one of that name is among them, and the single days that this
-- one and the others name.
select count(*),
       coalesce(bool_or(c.name = :name), false),
       coalesce(sum(c.days) filter (where c.name = :name), 0),
       coalesce(sum(c.days) filter (where c.name <> :name), 0)
from reference r
join calendar c on (c.shard_id, c.id) = (r.home_shard, r.id)
where r.tenant_id = :tenant_id and r.kind = 'calendar'
