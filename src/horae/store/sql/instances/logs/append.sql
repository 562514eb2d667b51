-- :shards :instance_ids :attempts :tokens :sinces :firsts :lines :sizes :tenant_ids :bodies :attempt_bytes :now
-- No row for a batch: its attempt is no longer the worker's, its shard is closed, or it is stored already.
-- The oldest rows of an attempt go where it has more than `:attempt_bytes`: the numbers say how many lines they had.
with given as (
    select g.*, coalesce(l.end_line, 0) as known_lines, coalesce(l.end_byte, 0) as known_bytes
    from unnest(:shards::smallint[], :instance_ids::uuid[], :attempts::int[], :tokens::uuid[], :sinces::timestamptz[],
                :firsts::bigint[], :lines::int[], :sizes::int[], :tenant_ids::uuid[], :bodies::jsonb[])
         as g(shard_id, instance_id, attempt, token, since, first_line, lines, size, tenant_id, body)
    left join lateral (
        select b.end_line, b.end_byte from log_batch b
        where b.shard_id = g.shard_id and b.instance_id = g.instance_id and b.attempt = g.attempt
          and b.written_at >= g.since and b.written_at <= :now
        order by b.end_line desc limit 1) l on true),
stored as (
    insert into log_batch (written_at, end_line, end_byte, lines, attempt, shard_id, instance_id, tenant_id, body)
    select :now, coalesce(g.first_line, g.known_lines) + g.lines, g.known_bytes + g.size, g.lines, g.attempt,
           g.shard_id, g.instance_id, g.tenant_id, g.body
    from given g
    where coalesce(g.first_line, g.known_lines) >= g.known_lines
      and exists (select from instance_live i
                  where i.shard_id = any(array[g.shard_id]) and i.id between g.instance_id and g.instance_id
                    and i.state not in ('INIT', 'FAIL', 'BLOCKED') and i.attempt = g.attempt and i.token = g.token)
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    on conflict do nothing
    returning shard_id, instance_id, attempt, end_byte),
dropped as (
    delete from log_batch b using stored s
    where s.end_byte > :attempt_bytes::bigint and b.shard_id = any(array[s.shard_id]) and b.instance_id = any(array[s.instance_id]) and b.attempt = s.attempt
      and b.written_at <= :now and b.end_byte <= s.end_byte - :attempt_bytes::bigint)
select g.instance_id, g.attempt,
       exists (select from stored s where s.instance_id = g.instance_id and s.attempt = g.attempt) as is_stored,
       coalesce(g.first_line, g.known_lines) < g.known_lines as is_known
from given g
