"""One good call for every operation of the document, about one tenant's world.

What differs between the calls of two worlds is an id; everything else is the same in both.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.api.world import AT, HOOK, QUIET, TOPIC, World

KEY = {"Idempotency-Key": "call"}
DAYS = {"first": "2026-01-01", "last": "2026-12-31", "weekdays": [1]}
FIRE = "2035-01-01T08:00:00Z"


class Call(NamedTuple):
    """What is sent: the values of the path, the query, the body, the headers."""

    path: dict[str, Any] = {}  # noqa: RUF012 - never changed
    query: dict[str, Any] = {}  # noqa: RUF012
    body: Any = None
    headers: dict[str, str] = {}  # noqa: RUF012


def _job(body: Any = None, query: dict[str, Any] | None = None, **path: Any) -> Callable[[World], Call]:
    return lambda world: Call({"job": world.job} | path, query or {}, body, KEY)


def _step(name: str) -> Callable[[World], Call]:
    return lambda world: Call({"instance": world.graph_run, "step": f"{name}-{world.tenant.name}"}, headers=KEY)


def _tenant(body: Any = None) -> Callable[[World], Call]:
    return lambda world: Call({"tenant": world.victim}, body=body)


def _plain(body: Any = None, **query: Any) -> Callable[[World], Call]:
    return lambda world: Call(query=query, body=body, headers=KEY)


def _held(**more: Any) -> Callable[[World], Call]:
    return lambda world: Call(body={"items": [world.held | more]})


CALLS: dict[str, Callable[[World], Call]] = {
    "GET /healthz": _plain(),
    "GET /readyz": _plain(),
    "GET /metrics": _plain(),
    "POST /api/v1/jobs": lambda world: Call(
        body={"name": "new", "cron": "0 0 9 * * ?", "policies": {"calendars": [{"calendar": world.calendar}]}},
        headers=KEY,
    ),
    "GET /api/v1/jobs": _plain(),
    "GET /api/v1/problem-jobs": _plain(),
    "GET /api/v1/jobs/{job}": _job(),
    "DELETE /api/v1/jobs/{job}": _job(),
    "PUT /api/v1/jobs/{job}": _job({"version": 2, "cron": "0 */10 * * * ?"}),
    "POST /api/v1/jobs/{job}/pause": _job(),
    "POST /api/v1/jobs/{job}/resume": lambda world: Call({"job": world.paused}),
    "PATCH /api/v1/jobs/{job}/labels": _job({"labels": {"team": "x"}}),
    "PATCH /api/v1/jobs/{job}/people": _job({"owner": "x"}),
    "GET /api/v1/jobs/{job}/versions": _job(),
    "GET /api/v1/jobs/{job}/versions/{version}": _job(version=1),
    "GET /api/v1/jobs/{job}/diff": _job(query={"before": 1, "after": 2}),
    "POST /api/v1/jobs/{job}/skip": _job({"at": FIRE}),
    "POST /api/v1/jobs/{job}/move": _job({"at": FIRE, "to": "2035-01-01T08:01:00Z"}),
    "POST /api/v1/jobs/{job}/restore": _job({"at": "2035-01-02T08:00:00Z"}),
    "GET /api/v1/jobs/{job}/preview": _job(),
    "GET /api/v1/jobs/{job}/expected-fires": _job(query={"since": FIRE, "until": "2035-01-01T09:00:00Z"}),
    "POST /api/v1/preview": lambda world: Call(
        body={"name": "new", "cron": "0 0 9 * * ?", "policies": {"calendars": [{"calendar": world.calendar}]}}
    ),
    "POST /api/v1/jobs/{job}/test": lambda world: Call({"job": world.http}, body={}),
    "POST /api/v1/bulk/jobs": _plain({"verb": "pause", "labels": {"nobody": "has"}}),
    "GET /api/v1/forecast": _plain(hours=1),
    "POST /api/v1/forecast": _plain({"name": "new", "cron": "0 9 * * *"}),
    "GET /api/v1/forecast/worst": _plain(hours=1),
    "POST /api/v1/forecast/spread": _plain({"jobs": ["planned"]}),
    "POST /api/v1/plans": _plain({"owner": "billing", "jobs": {"planned": {"cron": "0 9 * * *"}}}),
    "POST /api/v1/plans/apply": _plain({"owner": "billing", "jobs": {"planned": {"cron": "0 9 * * *"}}}),
    "POST /api/v1/jobs/{job}/trigger": _job({"payload": 1}),
    "POST /api/v1/jobs/{job}/backfill": _job({"since": "2026-01-01T00:00:00Z", "until": "2026-01-01T01:00:00Z"}),
    "POST /api/v1/jobs/{job}/backfill/plan": _job({"since": "2026-01-01T00:00:00Z", "until": "2026-01-01T01:00:00Z"}),
    "GET /api/v1/jobs/{job}/backfills": _job(),
    "GET /api/v1/backfills/{backfill}": lambda world: Call({"backfill": world.backfill}),
    "POST /api/v1/backfills/{backfill}/pause": lambda world: Call({"backfill": world.backfill}),
    "POST /api/v1/backfills/{backfill}/resume": lambda world: Call({"backfill": world.paused_backfill}),
    "POST /api/v1/backfills/{backfill}/cancel": lambda world: Call({"backfill": world.backfill}),
    "POST /api/v1/backfill-groups": _plain(
        {"since": "2026-01-01T00:00:00Z", "until": "2026-01-01T01:00:00Z", "prefix": "coupon"}
    ),
    "GET /api/v1/backfill-groups/{group}": lambda world: Call({"group": world.backfill_group}),
    "POST /api/v1/backfill-groups/{group}/pause": lambda world: Call({"group": world.backfill_group}),
    "POST /api/v1/backfill-groups/{group}/resume": lambda world: Call({"group": world.backfill_group}),
    "POST /api/v1/backfill-groups/{group}/cancel": lambda world: Call({"group": world.backfill_group}),
    "GET /api/v1/jobs/{job}/instances": _job(),
    "GET /api/v1/jobs/{job}/counts": _job(),
    "GET /api/v1/instances": _plain(),
    "GET /api/v1/instances/{instance}": lambda world: Call({"instance": world.dead}),
    "GET /api/v1/instances/{instance}/logs": lambda world: Call({"instance": world.returned}),
    "GET /api/v1/instances/{instance}/logs/tail": lambda world: Call({"instance": world.returned}),
    "GET /api/v1/instances/{instance}/result": lambda world: Call({"instance": world.returned}),
    "POST /api/v1/instances/{instance}/cancel": lambda world: Call({"instance": world.live}),
    "POST /api/v1/instances/{instance}/retry": lambda world: Call({"instance": world.waiting}),
    "GET /api/v1/jobs/{job}/explain": _job(query={"at": "02:00"}),
    "GET /api/v1/jobs/{job}/tasks/{key}/explain": lambda world: Call({"job": world.type, "key": "article-42"}),
    "GET /api/v1/jobs/{job}/subjects/{key}/explain": lambda world: Call(
        {"job": world.rolling, "key": f"1-{world.secret}"}
    ),
    "GET /api/v1/jobs/{job}/graph-runs": lambda world: Call({"job": world.graph}),
    "GET /api/v1/graph-runs/{instance}": lambda world: Call({"instance": world.graph_run}),
    "GET /api/v1/graph-runs/{instance}/steps/{step}/children": _step("done"),
    "POST /api/v1/graph-runs/{instance}/steps/{step}/retry": _step("done"),
    "POST /api/v1/graph-runs/{instance}/steps/{step}/skip": _step("second"),
    "POST /api/v1/graph-runs/{instance}/steps/{step}/succeed": _step("third"),
    "GET /api/v1/instances/{instance}/explain": lambda world: Call({"instance": world.dead}),
    "GET /api/v1/holds": _plain(),
    "GET /api/v1/tenant/usage": _plain(),
    "GET /api/v1/tenant-usage": _plain(limit=2),
    "GET /api/v1/workers": _plain(polling=True),
    "GET /api/v1/queues": _plain(),
    "POST /api/v1/workers/{worker}/drain": lambda world: Call(
        {"worker": world.worker}, body={"reason": "it is replaced"}
    ),
    "POST /api/v1/workers/{worker}/resume": lambda world: Call({"worker": world.worker}),
    "GET /api/v1/dead-letters": lambda world: Call(query={"job": world.job}),
    "POST /api/v1/dead-letters/{instance}/replay": lambda world: Call({"instance": world.dead}),
    "POST /api/v1/dead-letters/replay": lambda world: Call(body={"job": world.job}),
    "POST /api/v1/dead-letters/{instance}/discard": lambda world: Call({"instance": world.dead}),
    "GET /api/v1/failure-causes": _plain(),
    "GET /api/v1/failure-causes/{cause}": lambda world: Call({"cause": world.cause}),
    "POST /api/v1/dead-letters/tag": lambda world: Call(body={"job": world.job, "add": ["x"]}),
    "POST /api/v1/dead-letters/discard": lambda world: Call(body={"job": world.job, "reason": "old"}),
    "POST /api/v1/paced-replays": lambda world: Call(body={"job": world.job}),
    "GET /api/v1/paced-replays": _plain(),
    "GET /api/v1/paced-replays/{replay}": lambda world: Call({"replay": world.paced_replay}),
    "POST /api/v1/paced-replays/{replay}/stop": lambda world: Call({"replay": world.paced_replay}),
    "PUT /api/v1/tasks/{type}": lambda world: Call({"type": world.type}, body={"tasks": [{"key": "a", "at": AT}]}),
    "POST /api/v1/tasks/{type}/cancel": lambda world: Call(
        {"type": world.type}, body={"tasks": [{"key": "article-42"}]}
    ),
    "PUT /api/v1/tasks/{type}/{key}": lambda world: Call({"type": world.type, "key": "a"}, body={"at": AT}),
    "GET /api/v1/tasks/{type}/{key}": lambda world: Call({"type": world.type, "key": "article-42"}),
    "DELETE /api/v1/tasks/{type}/{key}": lambda world: Call({"type": world.type, "key": "article-42"}),
    "POST /api/v1/workers/poll": lambda world: Call(body={"queue": world.queue, "worker_id": "w"}),
    "POST /api/v1/workers/heartbeat": _held(),
    "POST /api/v1/workers/finish": _held(),
    "POST /api/v1/workers/fail": _held(message="no"),
    "POST /api/v1/workers/logs": _held(lines=[{"at": AT, "text": "a"}]),
    "GET /api/v1/scheduler/health": _plain(),
    "GET /api/v1/service-level": _plain(),
    "GET /api/v1/scheduler/series": _plain(hours=2, points=10),
    "GET /api/v1/scheduler/growth": _plain(),
    "GET /api/v1/scheduler/retention": _plain(),
    "GET /api/v1/scheduler/lateness": _plain(),
    "GET /api/v1/nodes": _plain(),
    "GET /api/v1/shards": _plain(),
    "GET /api/v1/shard-moves": _plain(),
    "POST /api/v1/shard-moves": _plain({"action": "REBALANCE"}),
    "POST /api/v1/shard-moves/{shard}/abort": lambda world: Call({"shard": world.moving_shard}),
    "GET /api/v1/drills": _plain(),
    "GET /api/v1/incidents": _plain(),
    "POST /api/v1/incidents": _plain({"grade": "P2", "reason": "late"}),
    "GET /api/v1/incidents/{incident}": lambda world: Call({"incident": world.incident}),
    "POST /api/v1/incidents/{incident}/stop": lambda world: Call({"incident": world.incident}, body={"reason": "no"}),
    "GET /api/v1/measures": _plain(),
    "POST /api/v1/measures/{name}/override": lambda world: Call(
        {"name": "peak_load"}, body={"in_force": False, "reason": "the peak is expected"}
    ),
    "POST /api/v1/measures/{name}/lift": lambda world: Call({"name": "peak_load"}, body={"reason": "it is over"}),
    "GET /api/v1/calendars": _plain(),
    "GET /api/v1/calendars/{calendar}": lambda world: Call({"calendar": world.calendar}),
    "POST /api/v1/calendars/{calendar}/preview": lambda world: Call({"calendar": world.calendar}, body=DAYS),
    "PUT /api/v1/calendars/{calendar}": lambda world: Call({"calendar": "new"}, body=DAYS),
    "POST /api/v1/keys": _plain({"name": "new", "roles": ["viewer"]}),
    "GET /api/v1/keys": _plain(),
    "DELETE /api/v1/keys/{key_id}": lambda world: Call({"key_id": world.key}),
    "GET /api/v1/roles": _plain(),
    "GET /api/v1/role-bindings": _plain(),
    "PUT /api/v1/role-bindings/{principal}": lambda world: Call({"principal": world.key}, body={"roles": ["worker"]}),
    "PUT /api/v1/secrets/{name}": lambda world: Call({"name": "new"}, body={"value": "s3cret"}),
    "GET /api/v1/secrets": _plain(),
    "DELETE /api/v1/secrets/{name}": lambda world: Call({"name": world.named}),
    "PUT /api/v1/sources/{type_name}": lambda world: Call(
        {"type_name": world.type}, body={"origin": {"kind": "push"}}, headers=KEY
    ),
    "GET /api/v1/sources": _plain(),
    "GET /api/v1/sources/{type_name}": lambda world: Call({"type_name": world.pushed}),
    "POST /api/v1/sources/{type_name}/rounds": lambda world: Call({"type_name": world.asked}, body={}, headers=KEY),
    "GET /api/v1/sources/{type_name}/rounds": lambda world: Call({"type_name": world.pushed}),
    "GET /api/v1/sources/{type_name}/repairs": lambda world: Call({"type_name": world.pushed}),
    "POST /api/v1/sources/{type_name}/pages": lambda world: Call(
        {"type_name": world.pushed}, body={"round": "call", "last": True}
    ),
    "POST /api/v1/sources/{type_name}/pause": lambda world: Call({"type_name": world.asked}),
    "POST /api/v1/sources/{type_name}/resume": lambda world: Call({"type_name": world.asked}),
    "DELETE /api/v1/sources/{type_name}": lambda world: Call({"type_name": world.asked}),
    "PUT /api/v1/alert-channels/{name}": lambda world: Call(
        {"name": "new"}, body={"channel": {"kind": "email", "to": ["ops@example.com"]}}
    ),
    "GET /api/v1/alert-channels": _plain(),
    "GET /api/v1/alert-channels/{name}": lambda world: Call({"name": world.alert_channel}),
    "POST /api/v1/alert-channels/{name}/test": lambda world: Call({"name": world.alert_channel}),
    "GET /api/v1/alert-tests/{test}": lambda world: Call({"test": world.alert_test}),
    "DELETE /api/v1/alert-channels/{name}": lambda world: Call({"name": world.alert_channel}),
    "PUT /api/v1/alert-rules/{name}": lambda world: Call({"name": "new"}, body={"kind": "missed"}),
    "GET /api/v1/alert-rules": _plain(),
    "GET /api/v1/alert-rules/{name}": lambda world: Call({"name": world.alert_rule}),
    "DELETE /api/v1/alert-rules/{name}": lambda world: Call({"name": world.alert_rule}),
    "PUT /api/v1/silences/{name}": lambda world: Call({"name": "new"}, body=QUIET),
    "GET /api/v1/silences": _plain(),
    "GET /api/v1/silences/{name}": lambda world: Call({"name": world.silence}),
    "DELETE /api/v1/silences/{name}": lambda world: Call({"name": world.silence}),
    "GET /api/v1/alerts": _plain(),
    "GET /api/v1/alerts/{alert}": lambda world: Call({"alert": world.alert}),
    "POST /api/v1/alerts/{alert}/acknowledge": lambda world: Call({"alert": world.alert}),
    "PUT /api/v1/subscriptions/{name}": lambda world: Call({"name": "new"}, body={"sink": HOOK}),
    "GET /api/v1/subscriptions": _plain(),
    "GET /api/v1/subscriptions/{name}": lambda world: Call({"name": world.subscription}),
    "DELETE /api/v1/subscriptions/{name}": lambda world: Call({"name": world.subscription}),
    "POST /api/v1/subscriptions/{name}/replay": lambda world: Call({"name": world.told}, body={}),
    "POST /api/v1/subscriptions/{name}/pause": lambda world: Call({"name": world.told}),
    "POST /api/v1/subscriptions/{name}/resume": lambda world: Call({"name": world.told}),
    "PUT /api/v1/intakes/{name}": lambda world: Call({"name": "new"}, body={"source": TOPIC}),
    "GET /api/v1/intakes": _plain(),
    "GET /api/v1/intakes/{name}": lambda world: Call({"name": world.intake}),
    "POST /api/v1/intakes/{name}/pause": lambda world: Call({"name": world.intake}),
    "POST /api/v1/intakes/{name}/resume": lambda world: Call({"name": world.intake}),
    "DELETE /api/v1/intakes/{name}": lambda world: Call({"name": world.intake}),
    "GET /api/v1/parked": _plain(),
    "POST /api/v1/parked/{message}/replay": lambda world: Call({"message": world.parked}),
    "DELETE /api/v1/parked/{message}": lambda world: Call({"message": world.poison}),
    "PUT /api/v1/jobs/{job}/subjects": lambda world: Call({"job": world.rolling}, body={"keys": ["a"]}),
    "POST /api/v1/jobs/{job}/subjects/remove": lambda world: Call({"job": world.rolling}, body={"keys": ["a"]}),
    "POST /api/v1/jobs/{job}/subjects/import": lambda world: Call(
        {"job": world.rolling}, body={"key": "b"}, headers={"Content-Type": "application/x-ndjson"}
    ),
    "GET /api/v1/jobs/{job}/subjects": lambda world: Call({"job": world.rolling}),
    "GET /api/v1/jobs/{job}/coverage": lambda world: Call({"job": world.rolling}),
    "GET /api/v1/audit": lambda world: Call(query={"resource": world.job}),
    "GET /api/v1/audit/chain": _plain(),
    "GET /api/v1/certificates": _plain(since="2030-01-01", until="2030-02-01"),
    "GET /api/v1/certificates/{day}": lambda world: Call({"day": world.certified}),
    "GET /login/options": _plain(),
    "POST /login/key": lambda world: Call(body={"key": world.text}),
    "GET /api/v1/me": _plain(),
    "PUT /api/v1/session/tenant": lambda world: Call(body={"tenant": world.tenant.name}),
    "DELETE /api/v1/session": _plain(),
    "GET /api/v1/sessions": _plain(),
    "DELETE /api/v1/sessions/{session}": lambda world: Call({"session": world.session}),
    "GET /api/v1/tenant": _plain(),
    "GET /api/v1/tenant/status": _plain(),
    "POST /api/v1/tenant/pause": _plain(),
    "POST /api/v1/tenant/resume": _plain(),
    "POST /api/v1/tenants": _plain({"name": "newcomer"}),
    "GET /api/v1/tenants": _plain(),
    "GET /api/v1/tenants/{tenant}": _tenant(),
    "GET /api/v1/tenants/{tenant}/status": _tenant(),
    "DELETE /api/v1/tenants/{tenant}": lambda world: Call({"tenant": world.victim}, {"confirm": world.victim}),
    "PUT /api/v1/tenants/{tenant}/allowance": _tenant({"weight": 2}),
    "POST /api/v1/tenants/{tenant}/widen": _tenant({"width": 4096}),
    "POST /api/v1/tenants/{tenant}/keys": _tenant({"name": "first", "roles": ["admin"]}),
    "POST /api/v1/tenants/{tenant}/pause": _tenant(),
    "POST /api/v1/tenants/{tenant}/resume": lambda world: Call({"tenant": world.paused_victim}),
}
