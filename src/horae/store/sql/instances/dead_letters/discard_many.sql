-- :shards :instance_ids :tenant_id :now :reason
-- No row for a dead letter: it is not NEW or DEAD_AGAIN any more, or its shard is closed. Each writes its event.
with given as materialized (
    select * from unnest(:shards::smallint[], :instance_ids::uuid[]) as g(shard_id, instance_id)),
discarded as (
    update dead_letter d
    set replay_status = 'DISCARDED'
    from given g
    where d.shard_id = any(array[g.shard_id]) and d.instance_id between g.instance_id and g.instance_id
      and (d.tenant_id = :tenant_id) is true and d.replay_status not in ('REPLAYING', 'REPLAYED', 'DISCARDED')
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning d.shard_id, d.instance_id, d.tenant_id, d.job_id, d.error_code, d.business_key),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, o.shard_id, o.tenant_id, o.job_id, o.instance_id, 'DEAD_LETTER_DISCARDED',
           jsonb_build_object('instance_id', o.instance_id, 'error_code', o.error_code, 'key', o.business_key,
                              'reason', :reason::text)
    from discarded o)
select instance_id from discarded
