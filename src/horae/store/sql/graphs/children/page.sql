-- :shard :run_id :tenant_id :position :state :after :limit
-- Zero rows: the step has no further children, or none in this state. A state of null is any.
select t.number, t.state, t.instance_id, t.changed_at, t.reason
from graph_child t
where t.shard_id = :shard and t.run_id = :run_id and t.tenant_id = :tenant_id and t.position = :position
  and t.number > :after and (:state::text is null or t.state = :state)
order by t.number
limit :limit
