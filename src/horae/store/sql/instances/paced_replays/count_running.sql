-- :tenant_id :limit
-- How many of a tenant's paced replays run, counted no further than the limit.
select count(*)::int from (
    select from paced_replay p where p.tenant_id = :tenant_id and p.ended_at is null limit :limit) r
