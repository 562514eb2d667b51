-- The days of history that have no part of the index yet, newest first. Zero rows: all have, and the index is valid.
select c.relname as partition
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'instance_history'::regclass and not i.inhdetachpending
  and to_regclass('instance_history_tenant') is not null  -- a release before it has no such index
  and not exists (
    select from pg_index x join pg_inherits p on p.inhrelid = x.indexrelid
    where x.indrelid = c.oid and p.inhparent = to_regclass('instance_history_tenant'))
order by c.relname desc
