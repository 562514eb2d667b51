-- :from_xid :until_xid :since :our_reasons :late_ms
-- For each job what ended in a span of transactions, if something is wrong with it: dead letters, fires that were skipped
-- by a cause that is ours, first attempts that were late. Found by the summaries of the pages, as the feed reads them.
select h.tenant_id, h.job_id,
       count(*) filter (where h.state = 'DEAD')::int as dead,
       max(h.error_code) filter (where h.state = 'DEAD') as error_code,
       coalesce(sum(coalesce(h.range_count, 1))
                filter (where h.state = 'SKIPPED' and h.reason = any(:our_reasons::text[])), 0)::int as missed,
       max(h.reason) filter (where h.state = 'SKIPPED' and h.reason = any(:our_reasons)) as skip_reason,
       coalesce(max(coalesce(h.trigger_delay_ms, 0) + h.held_ms) filter (where h.lane = 0), 0)::int as delay_ms
from instance_history h
where h.xid >= :from_xid and h.xid < :until_xid and h.ended_at >= :since
group by h.tenant_id, h.job_id
having bool_or(h.state = 'DEAD') or bool_or(h.state = 'SKIPPED' and h.reason = any(:our_reasons))
    or max(coalesce(h.trigger_delay_ms, 0) + h.held_ms) filter (where h.lane = 0) >= :late_ms
