-- :shard :tenant_id :day :revision
-- The certificate of a day; without a revision the newest.
select day, revision, made_at, audit_id, key_id, digest, signature, body from certificate
where shard_id = :shard and tenant_id = :tenant_id and day = :day and (:revision::int is null or revision = :revision)
order by revision desc limit 1
