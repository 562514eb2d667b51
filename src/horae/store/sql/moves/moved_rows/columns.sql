-- :tables
-- The columns of tables in their order, and the place of each in the primary key; null: it is not part of it.
select c.relname as name, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
       array_position(i.indkey::int[], a.attnum::int) as key_place
from unnest(:tables::text[]) as wanted(name)
join pg_class c on c.oid = to_regclass(wanted.name)
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_index i on i.indrelid = c.oid and i.indisprimary
order by c.relname, a.attnum
