-- :ids :shards :targets :actor :now
-- Always as many rows as given. The rows of these shards are of the past: a coordinator deletes them.
insert into shard_move as m (id, shard_id, target, requested_by, step, requested_at, changed_at, lease_until, frozen_at,
                             left_at)
select g.id, g.shard_id, g.target, :actor, 'DELETE', :now, :now, :now, :now, :now
from unnest(:ids::uuid[], :shards::smallint[], :targets::text[]) g(id, shard_id, target)
on conflict (shard_id) where ended_at is null do update
set step = 'DELETE', target = excluded.target, changed_at = :now, lease_until = :now, coordinator = null,
    frozen_at = coalesce(m.frozen_at, :now), left_at = :now, abort_requested = false, error = null
