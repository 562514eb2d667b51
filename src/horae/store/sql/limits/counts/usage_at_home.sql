-- :shard :tenant_id
-- What a tenant has in its home shard, by the name of the bound. Asked of its home cell: other cells have copies.
select kind || 's' as kind, count(*) as used from channel
where shard_id = :shard and tenant_id = :tenant_id and body is not null
group by kind
union all
select 'secrets', count(*) from secret where shard_id = :shard and tenant_id = :tenant_id and sealed is not null
union all
select 'keys', count(*) from api_key where shard_id = :shard and tenant_id = :tenant_id and revoked_at is null
union all
select 'bindings', count(*) from role_binding
where shard_id = :shard and tenant_id = :tenant_id and strpos(principal, ':') > 0 and cardinality(roles) > 0
