-- The living jobs `j` of a page by name, after the last one's.
j.tenant_id = :tenant_id and j.status <> 'REMOVED'
  and j.name collate "C" > :after_name and j.name collate "C" >= :prefix and starts_with(j.name, :prefix)
  and (:status::text is null or j.status = :status)
  and (:labels::jsonb = '{}' or coalesce(j.definition -> 'labels', '{}') @> :labels)
  and coalesce(j.definition -> 'labels', '{}') ?& :label_names::text[]
  and (:trigger_kind::text is null or j.definition -> 'trigger' ->> 'kind' = :trigger_kind)
  and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
