-- Whether the role of this connection is a superuser, or a member of one.
select exists (select from pg_roles where rolsuper and pg_has_role(oid, 'member'))
