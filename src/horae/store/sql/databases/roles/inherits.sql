-- :role
select pg_has_role(:role, 'usage')
