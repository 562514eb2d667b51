-- :tenant_id :after_name :trigger_kind :limit
-- A page of the schedules of living jobs of a kind, by name after the last one's; and who owns them.
select j.id, j.name, j.version, j.definition ->> 'owner' as owner, j.definition -> 'labels' ->> 'horae.owner' as source,
       (j.definition ->> 'late_after')::int as late_after,
       j.definition -> 'trigger' as trigger, j.definition -> 'policies' as policies,
       j.definition -> 'overrides' as overrides
from job j
where j.tenant_id = :tenant_id and j.status <> 'REMOVED' and j.name collate "C" > :after_name
  and j.definition -> 'trigger' ->> 'kind' = :trigger_kind
  and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
order by j.name collate "C"
limit :limit
