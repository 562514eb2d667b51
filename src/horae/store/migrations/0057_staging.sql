-- migrate:up

-- `staging` is an environment of its own: drills break something on purpose there. The table has one row.
-- squawk-ignore ban-drop-constraint
alter table cell drop constraint cell_environment_check;
-- squawk-ignore constraint-missing-not-valid
alter table cell add constraint cell_environment_check
check (environment in ('production', 'staging', 'dev', 'test'));

-- migrate:down
-- squawk-ignore ban-drop-constraint
alter table cell drop constraint cell_environment_check;
-- squawk-ignore constraint-missing-not-valid
alter table cell add constraint cell_environment_check check (environment in ('production', 'dev', 'test'));
