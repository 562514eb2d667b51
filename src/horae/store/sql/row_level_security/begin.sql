-- One round trip: the transaction, and on whose behalf it is. What is set here ends with it. A replica sets nothing, so
-- that nobody sees anything there, and answers with no row.
begin isolation level read committed; select set_config('horae.tenant', '{tenant}', true), set_config('horae.key', '{key}', true), set_config('horae.platform', '{platform}', true) where not pg_is_in_recovery()
