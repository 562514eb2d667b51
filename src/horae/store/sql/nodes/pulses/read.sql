-- :now :changed_since :relayed_xid
-- One row: for each sign whether its duty may have something to do. Each is one step in an index or a look at few rows.
-- `rows_written` are PostgreSQL's own counters, which follow the commit by at most some seconds; null: it counts
-- nothing.
with last_block as materialized (
    select greatest((select b.until_xid from audit_block b order by b.number desc limit 1),
                    (select p.until_xid from audit_checkpoint p where p.only_row)) as until_xid)
select exists (select from instance_live l where l.state = 'RUNNING' order by l.deadline, l.id limit 1) as running,
       (select count(*) || ':' || coalesce(sum(t.version), 0) from reference t
        where t.kind = 'tenant' and t.body ? 'held') as held_tenants,
       exists (select from backfill f where f.status = 'RUNNING') as backfills,
       exists (select from reference r
               where r.kind = 'job' and r.body -> 'definition' -> 'trigger' ->> 'kind' = 'rolling'
                 and r.body ->> 'status' = 'ACTIVE') as rolling_sets,
       exists (select from graph_run g where g.ended_at is null)
           or exists (select from instance_live q where q.queue = 'horae.graphs' and q.state in ('INIT', 'FAIL')
                                                    and q.due_at <= :now) as graphs,
       exists (select from secret s where s.changed_at >= :changed_since) as secrets,
       exists (select from reference c where c.changed_at >= :changed_since)
           or exists (select from data_key k where k.changed_at >= :changed_since)
           or exists (select from secret v where v.changed_at >= :changed_since)
           or exists (select from channel h where h.changed_at >= :changed_since) as copies,
       exists (select from channel u where u.kind = 'subscription' and u.body is not null and u.paused_at is null)
           as subscriptions,
       exists (select from job j where j.definition ? 'after' and j.status <> 'REMOVED') as edges,
       exists (select from channel i where i.kind = 'intake' and i.body is not null and i.paused_at is null) as intakes,
       exists (select from channel w where w.kind = 'alert_channel' and w.body is not null) as alerts,
       exists (select from source o
               where o.next_at <= :now
                 and (o.paused_at is null or o.asked = 'dry' or (o.asked is null and o.running and o.dry))) as sources,
       exists (select from outbox e where e.event = 'COMPENSATION_ASKED' and e.xid >= :relayed_xid) as compensations,
       exists (select from audit_log a where a.xid >= (select until_xid from last_block)) as unchained,
       exists (select from measure m order by m.tenant_id, m.name limit 1) as measures,
       exists (select from incident n where n.ended_at is null) as incidents,
       exists (select from dead_letter d where d.cause_id is null and d.replay_status in ('NEW', 'DEAD_AGAIN'))
           as unsorted_letters,
       exists (select from paced_replay y where y.ended_at is null and y.next_at <= :now) as paced_replays,
       case when current_setting('track_counts')::boolean then
           pg_stat_get_tuples_inserted('instance_live'::regclass)
           + pg_stat_get_tuples_updated('instance_live'::regclass)
           + pg_stat_get_tuples_deleted('instance_live'::regclass) + pg_stat_get_tuples_inserted('job_cursor'::regclass)
           + pg_stat_get_tuples_updated('job_cursor'::regclass) + pg_stat_get_tuples_deleted('job_cursor'::regclass)
       end as rows_written
