-- :role
select has_schema_privilege(:role, current_schema(), 'create')
