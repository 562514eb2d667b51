-- :shard :id :tenant_id :name :digest :scopes :job_labels :created_by :expires_at :now
-- Zero rows: a living key of that name exists, or the shard is closed.
insert into api_key (shard_id, id, tenant_id, name, digest, scopes, job_labels, created_by, expires_at, created_at,
                     changed_at)
select :shard, :id, :tenant_id, :name, :digest, :scopes, :job_labels, :created_by, :expires_at, :now, :now
where {fence}
on conflict do nothing
returning id
