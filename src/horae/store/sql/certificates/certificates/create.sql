-- :shard :tenant_id :day :revision :now :audit_id :key_id :digest :signature :body :evidence
-- Zero rows: somebody else has made this revision, or the shard is closed.
insert into certificate (shard_id, tenant_id, day, revision, made_at, audit_id, key_id, digest, signature, body, evidence)
select :shard, :tenant_id, :day, :revision, :now, :audit_id, :key_id, :digest, :signature, :body, :evidence
where {fence}
on conflict do nothing
returning revision
