-- Keeps a rolling job's set equal to a table of yours: every product that comes or goes is told through `horae_outbox`
-- (`horae_client.outbox.ddl("postgresql")` makes that table), in the transaction that brings or takes it. A relay
-- (`python -m horae_client.outbox postgresql://…`) forwards it. Put your table, its key and your job's name in.

create or replace function tell_stock_subjects() returns trigger language plpgsql as $$
begin
    if tg_op in ('DELETE', 'UPDATE') and (tg_op = 'DELETE' or old.code is distinct from new.code) then
        insert into horae_outbox (token, verb, type, task_key, body)
        values (replace(gen_random_uuid()::text, '-', ''), 'remove', 'STOCK', old.code, '{}');
    end if;
    if tg_op in ('INSERT', 'UPDATE') and (tg_op = 'INSERT' or old.code is distinct from new.code) then
        insert into horae_outbox (token, verb, type, task_key, body)
        values (replace(gen_random_uuid()::text, '-', ''), 'add', 'STOCK', new.code, '{"at_once": true}');
    end if;
    return null;
end $$;

create trigger product_subjects after insert or update or delete on product
for each row execute function tell_stock_subjects();
