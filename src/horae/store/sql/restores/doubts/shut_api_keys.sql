-- :ids :now
-- Fewer rows than given: the others are revoked already.
update api_key k set revoked_at = :now, changed_at = :now, version = k.version + 1
where k.id = any(:ids::uuid[]) and k.revoked_at is null
