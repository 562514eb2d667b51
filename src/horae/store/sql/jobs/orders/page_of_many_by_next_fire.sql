-- :tenant_id :after_name :prefix :status :labels :label_names :limit :trigger_kind :name_part :names :target_parts :owner :calendar :mark_at :mark_name
-- The page of `page_by_next_fire` for a tenant with many jobs: the index that nodes fire by is walked until the page is
-- full, once for each priority. Cursors of other tenants are passed over; of many cursors many are the tenant's. Each
-- `offset 0` keeps the planner to this order of steps, whatever it knows of the tables.
select p.*
from unnest(array[0, 1, 2]) w(priority)
cross join lateral (
    select f.*
    from (
        select c.shard_id, c.job_id, c.next_fire_at
        from job_cursor c
        where c.priority = w.priority
          and c.tenant_id = :tenant_id
          and c.next_fire_at >= coalesce(:mark_at::timestamptz, '-infinity')
        order by c.next_fire_at
        offset 0
    ) c
    cross join lateral (
        select {job_columns}
        from (select * from job r where (r.shard_id, r.id) = (c.shard_id, c.job_id) offset 0) j
        where (c.next_fire_at, j.name collate "C")
              > (coalesce(:mark_at::timestamptz, '-infinity'), :mark_name::text collate "C")
          and {job_owner_and_calendar}
          and {job_filter}
        offset 0
    ) f
    order by c.next_fire_at, f.name collate "C"
    limit :limit
) p
order by p.next_fire_at, p.name collate "C"
limit :limit
