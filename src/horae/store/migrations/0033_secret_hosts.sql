-- migrate:up

-- The hosts that a secret may be sent to; none named: to any. It is part of what the value is sealed with.
alter table secret add column hosts text[] not null default '{}';

-- migrate:down
-- squawk-ignore ban-drop-column
alter table secret drop column hosts;
