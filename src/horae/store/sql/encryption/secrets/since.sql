-- :since
-- What changed lately, at home here or copied; without a value: it was removed.
select tenant_id, name, version, sealed, hosts, changed_at from secret where changed_at >= :since
