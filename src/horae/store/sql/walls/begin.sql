-- One round trip: the transaction, and on whose behalf it is. What is set here ends with it.
begin; select set_config('horae.tenant', '{tenant}', true), set_config('horae.key', '{key}', true), set_config('horae.platform', '{platform}', true)
