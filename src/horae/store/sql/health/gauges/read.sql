-- :since :now :limit
-- Always a row. The backlog is what was counted last, not longer ago than :since; dead letters are counted up to the limit.
with latest as materialized (
    select max(minute) as minute from signal where minute >= :since and backlog is not null),
waiting as materialized (
    select coalesce(sum(s.retry_backlog), 0)::int as retry_backlog, coalesce(sum(s.backlog), 0)::int as backlog
    from latest join signal s on s.minute = latest.minute
    where s.backlog is not null),
day as materialized (
    select min(right(c.relname, 8)) as oldest
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'instance_history'::regclass)
select waiting.backlog, waiting.retry_backlog,
       (select count(*)::int from (select from dead_letter d where d.replay_status in ('NEW', 'DEAD_AGAIN')
                                   limit :limit) l) as dead_letters,
       ((:now::timestamptz at time zone 'UTC')::date - to_date(day.oldest, 'YYYYMMDD'))::int as days_kept,
       (select extract(epoch from :now - min(p.at))::float8 from channel c join feed_position p on p.channel_id = c.id
        where c.kind = 'subscription' and c.body is not null) as feed_lag_s
from waiting, day
