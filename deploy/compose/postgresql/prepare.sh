#!/bin/sh
# Runs once, when PostgreSQL's container makes its database: Horae's roles with their passwords, its database, and TLS.
# docs/database-roles.md says what each role is for.
set -eu
secret() { cat "/run/secrets/$1"; }
psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
    --set migrate="$(secret migrate_password)" --set engine="$(secret engine_password)" \
    --set api="$(secret api_password)" <<'SQL'
create role horae_migrate login password :'migrate';
create role horae_engine login password :'engine';
create role horae_relay nologin;
create role horae_api login password :'api';
create role horae_readonly nologin;
grant pg_read_all_stats, pg_signal_backend to horae_engine;
alter role horae_readonly set default_transaction_read_only = on;
create database horae owner horae_migrate;
alter system set ssl = on;
alter system set idle_in_transaction_session_timeout = '60s';
alter system set max_wal_size = '4GB';
alter system set wal_compression = 'lz4';
SQL
install --mode=0600 /run/secrets/postgres_key "$PGDATA/server.key"
install --mode=0600 /run/secrets/postgres_certificate "$PGDATA/server.crt"
# The local socket is for the server's own user. Over the network: TLS and a password, or nothing.
cat > "$PGDATA/pg_hba.conf" <<'HBA'
local   all   all                 peer
hostssl horae all   all           scram-sha-256
HBA
