-- Every product that comes or goes is told in the transaction that brings or takes it: the trigger writes what
-- `outbox.add_subject` would write. A new product is refreshed at once.
create or replace function tell_horae() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into horae_outbox (token, verb, type, task_key, body)
        values (gen_random_uuid()::text, 'add', 'STOCK', new.code, '{"at_once": true}');
    else
        insert into horae_outbox (token, verb, type, task_key, body)
        values (gen_random_uuid()::text, 'remove', 'STOCK', old.code, '{}');
    end if;
    return null;
end $$;
create or replace trigger product_told after insert or delete on product for each row execute function tell_horae();
