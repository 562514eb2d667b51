#!/bin/sh
# A walk through the API with curl: a tenant, its keys, a job, a task that moves, a pause, a run by hand, its history.
#
#   HORAE_KEY=$(horae key bootstrap --reason installed | tail -1) docs/api/walk.sh
#
# It needs `horae api` and `horae node` on the same database. HORAE_URL is where the API listens.
set -eu
: "${HORAE_URL:=http://127.0.0.1:8700}"
: "${HORAE_KEY:?the text of an admin key of the platform, as \`horae key bootstrap\` shows it once}"
tenant=${TENANT:-walk-$(date +%s)}
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# ask METHOD PATH [BODY] [IDEMPOTENCY-KEY]: one request as $key; prints the answer, ends the walk where it is refused.
# What says 429 or 503 is asked again: under its Idempotency-Key that is safe.
ask() {
    echo "> $1 $2 ${3-}" >&2
    set -- "$1" "$HORAE_URL/api/v1$2" "${3-}" "${4-}"
    method=$1 url=$2 body=$3 once=$4
    set -- --silent --show-error --fail-with-body --retry 8 --request "$method" -H "Authorization: Bearer $key"
    [ -z "$once" ] || set -- "$@" -H "Idempotency-Key: $once"
    [ -z "$body" ] || set -- "$@" -H "Content-Type: application/json" --data "$body"
    # Into a file, which every try begins anew: what was refused at first is not part of the answer.
    curl "$@" --output "$said" "$url" || { cat "$said" >&2; exit 1; }
    cat "$said"
    echo
}

# field NAME: the text of a field, out of an answer. A program would read the JSON.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

key=$HORAE_KEY
ask POST /tenants "{\"name\": \"$tenant\", \"zone\": \"Asia/Shanghai\"}"
made=$(ask POST "/tenants/$tenant/keys" '{"name": "founder", "roles": ["admin"]}')
echo "$made" | sed 's/"key":"[^"]*"/"key":"…"/'           # its text is shown once: keep it, and show it to nobody
key=$(echo "$made" | field key)                           # from here on we are an admin of that tenant
worker=$(ask POST /keys '{"name": "printer", "roles": ["worker"]}' | field key)

# A job, and what was understood: its sentence and its coming fires. It has no target, so workers take it from a queue.
job=$(ask POST /jobs '{"name": "coupon_job", "cron": "0 */5 * * * ?"}' "create-coupon_job-1" | tee /dev/stderr | field id)

# A task: one business key, one time. Asking twice changes nothing; another time moves it, under the same id.
ask POST /jobs '{"name": "ARTICLE_PUBLISH", "trigger": {"kind": "keyed"}}'
ask PUT /tasks/ARTICLE_PUBLISH/article-42 '{"at": "2035-01-01T09:00:00+08:00", "payload": {"title": "x"}}'   # created
ask PUT /tasks/ARTICLE_PUBLISH/article-42 '{"at": "2035-01-01T10:00:00+08:00"}'                              # moved
ask GET /tasks/ARTICLE_PUBLISH/article-42                                                   # and every decision

ask POST "/jobs/$job/pause"
ask POST "/jobs/$job/resume"

# A run by hand, asked for twice under one key: one instance.
ask POST "/jobs/$job/trigger" '{"payload": {"campaign": 42}}' "by-hand-1"
ask POST "/jobs/$job/trigger" '{"payload": {"campaign": 42}}' "by-hand-1"

# A worker takes it and says that it is done.
founder=$key key=$worker
taken=$(ask POST /workers/poll '{"queue": "coupon_job", "worker_id": "walk", "limit": 1, "wait": 20}')
echo "$taken"
one="\"instance_id\": \"$(echo "$taken" | field instance_id)\", \"attempt\": 1, \"token\": \"$(echo "$taken" | field token)\""
ask POST /workers/finish "{\"items\": [{$one}]}"

key=$founder
ask GET "/jobs/$job/instances"
ask GET /scheduler/health
ask GET "/audit?limit=5"
echo "walked"
