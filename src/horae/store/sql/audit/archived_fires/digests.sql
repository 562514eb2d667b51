-- :begin :end :tenant_id
-- For each job the number of its rows that ended in a time, and a sum of digests over what an audit reads of them.
select h.job_id, count(*)::int as rows,
       sum(('x' || left(encode(sha256(convert_to(concat_ws('|',
           replace(h.id::text, '-', ''), (extract(epoch from h.fire_time) * 1000000)::bigint,
           (extract(epoch from h.due_at) * 1000000)::bigint, (extract(epoch from h.ended_at) * 1000000)::bigint,
           coalesce(((extract(epoch from h.range_to) * 1000000)::bigint)::text, ''), coalesce(h.range_count::text, ''),
           h.job_version, h.lane, h.retry_count, h.state, coalesce(h.reason, '')), 'UTF8')), 'hex'), 15)
       )::bit(60)::bigint) as digest
from instance_history h
where h.ended_at >= :begin and h.ended_at < :end and (:tenant_id::uuid is null or h.tenant_id = :tenant_id)
group by h.job_id
