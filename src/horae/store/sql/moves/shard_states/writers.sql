-- The transactions of this database that may have passed the fence: each of them holds a lock on the table `shard`,
-- which the fence reads, and a lock for writing. A statement takes its locks before its snapshot. So a transaction that
-- saw a shard active which is closed now was among the writers when the freeze was committed.
select distinct f.virtualtransaction as id
from pg_locks f
join pg_locks w on w.virtualtransaction = f.virtualtransaction and w.pid = f.pid
where f.locktype = 'relation' and f.relation = 'shard'::regclass
  and f.database = (select d.oid from pg_database d where d.datname = current_database())
  and w.locktype = 'relation' and w.mode = 'RowExclusiveLock' and f.pid <> pg_backend_pid()
