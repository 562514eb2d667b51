-- :tenant_id :number
-- A number never goes back: two may raise it at once.
insert into widening as w (tenant_id, number) values (:tenant_id, :number)
on conflict (tenant_id) do update set number = greatest(w.number, excluded.number)
