#!/bin/sh
# The first start makes a database with POSTGRES_INITDB_ARGS and POSTGRES_PASSWORD_FILE, and runs the scripts of
# /docker-entrypoint-initdb.d beside a server that listens on its socket only. Every start then runs the server.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    # shellcheck disable=SC2086
    initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" $POSTGRES_INITDB_ARGS --pgdata="$PGDATA"
    pg_ctl --wait --pgdata="$PGDATA" --options="-c listen_addresses=" start
    for script in /docker-entrypoint-initdb.d/*.sh; do "$script"; done
    pg_ctl --wait --pgdata="$PGDATA" --mode=fast stop
fi
exec "$@" -c listen_addresses='*'
