-- :tenant_id :after_name :limit
select id, name, version, body from reference where tenant_id = :tenant_id and kind = 'calendar' and name > :after_name
order by name limit :limit
