-- :first_minute :last_minute :tenant_id
-- Zero rows: nothing was counted in that time for that tenant. Minute by minute, since the key begins with the minute
-- and a tenant's rows would otherwise be looked for among everyone's.
select s.minute, sum(s.success)::int as success, sum(s.failed)::int as failed, sum(s.dead)::int as dead,
       sum(s.skipped)::int as skipped,
       array[
           coalesce(sum(s.delays[1]), 0), coalesce(sum(s.delays[2]), 0), coalesce(sum(s.delays[3]), 0),
           coalesce(sum(s.delays[4]), 0), coalesce(sum(s.delays[5]), 0), coalesce(sum(s.delays[6]), 0),
           coalesce(sum(s.delays[7]), 0), coalesce(sum(s.delays[8]), 0), coalesce(sum(s.delays[9]), 0),
           coalesce(sum(s.delays[10]), 0), coalesce(sum(s.delays[11]), 0), coalesce(sum(s.delays[12]), 0),
           coalesce(sum(s.delays[13]), 0), coalesce(sum(s.delays[14]), 0), coalesce(sum(s.delays[15]), 0),
           coalesce(sum(s.delays[16]), 0), coalesce(sum(s.delays[17]), 0),
           coalesce(sum(s.delays[18]), 0)]::int[] as delays,
       coalesce(sum(s.retry_backlog), 0)::int as retry_backlog, coalesce(sum(s.backlog), 0)::int as backlog
from generate_series(:first_minute::timestamptz, :last_minute::timestamptz, interval '1 minute') as m(minute)
join signal s on s.minute = m.minute and s.tenant_id = :tenant_id
group by s.minute
