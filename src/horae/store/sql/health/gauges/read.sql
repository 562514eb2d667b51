-- :now :limit
-- Always a row. Dead letters are counted up to the limit.
with day as materialized (
    select min(right(c.relname, 8)) as oldest
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'instance_history'::regclass)
select (select count(*)::int from (select from dead_letter d where d.replay_status in ('NEW', 'DEAD_AGAIN')
                                   limit :limit) l) as dead_letters,
       ((:now::timestamptz at time zone 'UTC')::date - to_date(day.oldest, 'YYYYMMDD'))::int as days_kept,
       (select extract(epoch from :now - min(p.at))::float8 from channel c join feed_position p on p.channel_id = c.id
        where c.kind = 'subscription' and c.body is not null) as feed_lag_s
from day
