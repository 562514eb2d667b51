-- The living jobs `j` of a page by name, after the last one's; without the step jobs of graphs.
-- What costs least is asked first: of very many jobs a part of the name leaves few.
j.tenant_id = :tenant_id and j.status <> 'REMOVED'
  and j.name collate "C" > :after_name and j.name collate "C" >= :prefix and starts_with(j.name, :prefix)
  and (:name_part::text = '' or strpos(lower(j.name collate "C"), lower(:name_part::text collate "C")) > 0)
  and (:names::text[] = '{}' or j.name collate "C" = any(:names))
  and not j.definition ? 'step_of'
  and (:status::text is null or j.status = :status)
  and (:labels::jsonb = '{}' or coalesce(j.definition -> 'labels', '{}') @> :labels)
  and coalesce(j.definition -> 'labels', '{}') ?& :label_names::text[]
  and (:trigger_kind::text is null or j.definition -> 'trigger' ->> 'kind' = :trigger_kind)
  and (
      :target_parts::jsonb[] = '{}'
      or j.definition -> 'target' @> any(:target_parts)
      or exists (
          select
          from job st
          where st.shard_id = j.shard_id
            and st.id = any(array(select (jsonb_path_query(j.definition, '$.graph.*[*].job_id') #>> '{}')::uuid))
            and st.status <> 'REMOVED' and st.definition -> 'target' @> any(:target_parts)
      )
  )
  and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
