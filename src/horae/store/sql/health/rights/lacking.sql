-- :role
-- What the migrations grant to a role of ours and the role of this connection may not do: `update on job`.
with tables as (
    select c.oid, c.relname, c.relkind, c.relacl from pg_class c where c.relnamespace = current_schema()::regnamespace)
select lower(a.privilege_type) || ' on ' || t.relname as lacking
from tables t, aclexplode(t.relacl) a
where a.grantee = to_regrole(:role)
  and not case when t.relkind = 'S' then has_sequence_privilege(t.oid, a.privilege_type)
               else has_table_privilege(t.oid, a.privilege_type) end
union
select lower(a.privilege_type) || ' on ' || t.relname
from tables t join pg_attribute c on c.attrelid = t.oid, aclexplode(c.attacl) a
where a.grantee = to_regrole(:role) and not has_column_privilege(t.oid, c.attnum, a.privilege_type)
union
select 'execute on ' || f.proname
from pg_proc f, aclexplode(f.proacl) a
where f.pronamespace = current_schema()::regnamespace and a.grantee = to_regrole(:role)
  and not has_function_privilege(f.oid, 'execute')
order by lacking
