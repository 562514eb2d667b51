-- The last of the `scanned` rows, where there may be more behind it.
walked as (
    select s.fire_time as walked_at, s.id as walked_id
    from scanned s
    where (select count(*) from scanned) >= :scan_limit
    order by s.fire_time, s.id
    limit 1)
