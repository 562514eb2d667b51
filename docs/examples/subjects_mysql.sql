-- The same for MySQL and MariaDB: a rolling job's set is kept equal to the table `product`, through `horae_outbox`.

create trigger product_subjects_add after insert on product for each row
insert into horae_outbox (token, verb, type, task_key, body)
values (replace(uuid(), '-', ''), 'add', 'STOCK', new.code, '{"at_once": true}');

create trigger product_subjects_remove after delete on product for each row
insert into horae_outbox (token, verb, type, task_key, body)
values (replace(uuid(), '-', ''), 'remove', 'STOCK', old.code, '{}');
