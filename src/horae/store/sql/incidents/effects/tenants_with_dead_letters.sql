-- :tag :created_since :limit
-- Zero rows: no tenant has any.
select r.id from reference r
where r.kind = 'tenant'
  and exists (
      select from dead_letter d
      where d.tenant_id = r.id and d.created_at >= :created_since and d.replay_status in ('NEW', 'DEAD_AGAIN')
        and d.tag = :tag)
order by r.id
limit :limit
