-- :now :limit :kept
-- Always a row. Dead letters are counted up to the limit. A day is over its term once it has ended longer ago than
-- :kept. A day of history is in the archive once its register says so.
with day as materialized (
    select to_date(right(c.relname, 8), 'YYYYMMDD') as day
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'instance_history'::regclass)
select (select count(*)::int from (select from dead_letter d where d.replay_status in ('NEW', 'DEAD_AGAIN')
                                   limit :limit) l) as dead_letters,
       (select ((:now::timestamptz at time zone 'UTC')::date - min(day))::int from day) as days_kept,
       (select count(*)::int from day where day + 1 <= ((:now::timestamptz - :kept::interval) at time zone 'UTC')::date)
           as days_behind,
       (select coalesce(extract(epoch from :now::timestamptz at time zone 'UTC' - (min(d.day) + 1)), 0)::float8
        from day d
        where d.day < (:now::timestamptz at time zone 'UTC')::date
          and not exists (select from archived_day a where a.day = d.day and a.state <> 'CLOSING')) as archive_lag_s,
       (select extract(epoch from :now - min(p.at))::float8 from channel c join feed_position p on p.channel_id = c.id
        where c.kind = 'subscription' and c.body is not null) as feed_lag_s,
       (select sum(p.waiting)::float8 from channel c join intake_position p on p.channel_id = c.id
        where c.kind = 'intake' and c.body is not null) as intake_waiting,
       (select coalesce(sum(coalesce((r.counts ->> 'missing')::int, 0) + coalesce((r.counts ->> 'drifted')::int, 0)
                            + coalesce((r.counts ->> 'orphans')::int, 0)), 0)::int
        from source s
        cross join lateral (
            select l.counts from source_round l
            where l.shard_id = s.shard_id and l.source_id = s.id and l.status = 'DONE'
            order by l.number desc limit 1) r
        where s.paused_at is null) as source_drift,
       (select count(*)::int from (select from fire_finding f where f.ended_at is null limit :limit) l) as audit_findings,
       (select extract(epoch from :now - p.judged_until)::float8 from fire_audit_position p) as audit_lag_s,
       {wal_archive_lag} as wal_archive_lag_s
