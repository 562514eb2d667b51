-- migrate:up

-- The owner in the definition, once more: behind the wall no index over an expression of jsonb can be searched, because
-- its operators are not leakproof.
alter table job add column owner text;

-- migrate:down
-- squawk-ignore ban-drop-column
alter table job drop column owner;
