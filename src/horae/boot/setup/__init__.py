"""Sets up a deployment: roles, database, keyring, settings file, tables, first tenant and first key."""
