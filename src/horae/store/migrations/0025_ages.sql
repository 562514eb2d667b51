-- migrate:up

-- How old the last successes of a set's subjects are, counted together with its coverage; null: counted by a node that did
-- not know of ages yet.
alter table coverage add column ages bigint[];

-- migrate:down
-- squawk-ignore ban-drop-column
alter table coverage drop column ages;
