-- migrate:up

-- While a tenant's home cell is down, the platform finds the tenant by a copy: its rows alone, for reading.
create policy platform on reference for select
using (kind = 'tenant' and (select current_setting('horae.platform', true)) = 'on');

-- migrate:down
drop policy if exists platform on reference;
