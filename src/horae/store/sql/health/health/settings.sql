select name, reset_val from pg_settings
