"""Every operation of the API has a method of both clients, which sends exactly its request."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from inspect import signature
from operator import attrgetter
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin
from unittest.mock import Mock

import pytest
from msgspec import structs
from msgspec.inspect import is_struct_type

from horae.api.app import make
from horae.api.gate import Gate
from horae_client import AsyncClient, Client, Listed, PushOrigin, Put
from horae_client.wire import Request
from tests.api.names import no_cells

OPERATIONS = Path(__file__).parents[1] / "api/operations.txt"
METHODS = {
    "list_graph_runs": "graphs.runs",
    "get_graph_run": "graphs.run",
    "list_graph_children": "graphs.children",
    "retry_graph_step": "graphs.retry",
    "skip_graph_step": "graphs.skip",
    "succeed_graph_step": "graphs.succeed",
    "abort_shard_move": "scheduler.abort_move",
    "acknowledge_alert": "alerts.acknowledge",
    "add_subjects": "subjects.add",
    "apply_plan": "plans.apply",
    "cancel_backfill": "backfills.cancel",
    "cancel_backfill_group": "backfill_groups.cancel",
    "cancel_instance": "instances.cancel",
    "cancel_task": "tasks.cancel",
    "cancel_tasks": "tasks.cancel_many",
    "compare_job_versions": "jobs.compare",
    "count_job_instances": "jobs.counts",
    "create_api_key": "api_keys.create",
    "create_job": "jobs.create",
    "create_tenant": "tenants.create",
    "create_tenant_key": "tenants.create_key",
    "discard_dead_letter": "dead_letters.discard",
    "discard_dead_letters": "dead_letters.discard_matching",
    "drain_worker": "workers.drain",
    "drop_parked_message": "parked_messages.drop",
    "explain_instance": "instances.explain",
    "explain_job": "jobs.explain",
    "explain_subject": "subjects.explain",
    "explain_task": "tasks.explain",
    "fail_attempts": "workers.fail",
    "finish_attempts": "workers.finish",
    "get_alert": "alerts.get",
    "get_alert_channel": "alert_channels.get",
    "get_alert_rule": "alert_rules.get",
    "get_alert_test": "alert_channels.get_test",
    "get_audit_chains": "audit.chains",
    "get_backfill": "backfills.get",
    "get_backfill_group": "backfill_groups.get",
    "get_calendar": "calendars.get",
    "get_caller": "sessions.caller",
    "get_certificate": "audit.certificate",
    "get_failure_cause": "failure_causes.get",
    "get_paced_replay": "paced_replays.get",
    "get_coverage": "subjects.coverage",
    "get_forecast": "jobs.forecast",
    "list_worst_seconds": "jobs.worst_seconds",
    "propose_spread": "jobs.propose_spread",
    "forecast_new_job": "jobs.forecast_new",
    "get_incident": "scheduler.incident",
    "get_growth": "scheduler.growth",
    "append_logs": "workers.log",
    "get_result": "instances.result",
    "list_log_lines": "instances.logs",
    "tail_log_lines": "instances.tail",
    "get_health": "health",
    "get_health_series": "scheduler.health_series",
    "get_instance": "instances.get",
    "get_intake": "intakes.get",
    "get_job": "jobs.get",
    "get_job_version": "jobs.version",
    "get_lateness": "scheduler.lateness",
    "get_liveness": "scheduler.liveness",
    "get_login_options": "sessions.login_options",
    "get_metrics": "scheduler.metrics",
    "get_own_tenant": "tenant.get",
    "get_own_tenant_status": "tenant.status",
    "get_own_tenant_usage": "tenant.usage",
    "get_readiness": "scheduler.readiness",
    "get_retention": "scheduler.retention",
    "get_service_level": "scheduler.service_level",
    "get_silence": "silences.get",
    "get_source": "sources.get",
    "get_subscription": "subscriptions.get",
    "get_task": "tasks.get",
    "get_tenant": "tenants.get",
    "get_tenant_status": "tenants.status",
    "import_subjects": "subjects.import_keys",
    "list_alert_channels": "alert_channels.list",
    "list_alert_rules": "alert_rules.list",
    "list_alerts": "alerts.list",
    "list_api_keys": "api_keys.list",
    "list_audit_entries": "audit.list",
    "list_backfills": "backfills.list",
    "list_expected_fires": "jobs.expected_fires",
    "list_certificates": "audit.certificates",
    "list_calendars": "calendars.list",
    "list_dead_letters": "dead_letters.list",
    "list_failure_causes": "failure_causes.list",
    "list_paced_replays": "paced_replays.list",
    "list_holds": "holds.list",
    "list_instances": "instances.list",
    "list_intakes": "intakes.list",
    "list_job_instances": "jobs.history",
    "list_job_versions": "jobs.versions",
    "list_jobs": "jobs.list",
    "list_nodes": "scheduler.nodes",
    "list_parked_messages": "parked_messages.list",
    "list_problem_jobs": "jobs.problems",
    "list_queues": "queues.list",
    "list_repairs": "sources.repairs",
    "list_role_bindings": "role_bindings.list",
    "list_roles": "role_bindings.actions",
    "list_rounds": "sources.rounds",
    "list_secrets": "secrets.list",
    "list_sessions": "sessions.list",
    "list_drills": "scheduler.drills",
    "list_incidents": "scheduler.incidents",
    "start_incident": "scheduler.start_incident",
    "stop_incident": "scheduler.stop_incident",
    "lift_measure": "scheduler.lift_measure",
    "list_measures": "scheduler.measures",
    "override_measure": "scheduler.override_measure",
    "list_shard_moves": "scheduler.moves",
    "list_shards": "scheduler.shards",
    "list_silences": "silences.list",
    "list_sources": "sources.list",
    "list_subjects": "subjects.list",
    "list_subscriptions": "subscriptions.list",
    "list_tenant_usage": "tenants.usage",
    "list_tenants": "tenants.list",
    "list_workers": "workers.list",
    "log_in_with_key": "sessions.log_in",
    "log_out": "sessions.log_out",
    "make_plan": "plans.make",
    "move_occurrence": "jobs.move",
    "pause_backfill": "backfills.pause",
    "pause_backfill_group": "backfill_groups.pause",
    "pause_intake": "intakes.pause",
    "pause_job": "jobs.pause",
    "pause_own_tenant": "tenant.pause",
    "pause_source": "sources.pause",
    "pause_subscription": "subscriptions.pause",
    "pause_tenant": "tenants.pause",
    "plan_backfill": "backfills.plan",
    "poll_queue": "workers.poll",
    "preview_job": "jobs.preview",
    "preview_new_job": "jobs.preview_new",
    "push_source_page": "sources.push",
    "put_alert_channel": "alert_channels.put",
    "put_alert_rule": "alert_rules.put",
    "preview_calendar": "calendars.preview",
    "put_calendar": "calendars.put",
    "put_intake": "intakes.put",
    "put_secret": "secrets.put",
    "put_silence": "silences.put",
    "put_source": "sources.put",
    "put_subscription": "subscriptions.put",
    "put_task": "tasks.schedule",
    "put_tasks": "tasks.schedule_many",
    "remove_alert_channel": "alert_channels.remove",
    "remove_alert_rule": "alert_rules.remove",
    "remove_intake": "intakes.remove",
    "remove_job": "jobs.remove",
    "remove_secret": "secrets.remove",
    "remove_silence": "silences.remove",
    "remove_source": "sources.remove",
    "remove_subjects": "subjects.remove",
    "remove_subscription": "subscriptions.remove",
    "remove_tenant": "tenants.remove",
    "replay_dead_letter": "dead_letters.replay",
    "replay_dead_letters": "dead_letters.replay_many",
    "start_paced_replay": "paced_replays.start",
    "stop_paced_replay": "paced_replays.stop",
    "tag_dead_letters": "dead_letters.tag_matching",
    "replay_events": "subscriptions.replay",
    "replay_parked_message": "parked_messages.replay",
    "request_shard_moves": "scheduler.request_moves",
    "restore_occurrence": "jobs.restore",
    "resume_backfill": "backfills.resume",
    "resume_backfill_group": "backfill_groups.resume",
    "resume_intake": "intakes.resume",
    "resume_job": "jobs.resume",
    "resume_own_tenant": "tenant.resume",
    "resume_source": "sources.resume",
    "resume_subscription": "subscriptions.resume",
    "resume_tenant": "tenants.resume",
    "resume_worker": "workers.resume",
    "retry_instance": "instances.retry",
    "revoke_api_key": "api_keys.revoke",
    "revoke_session": "sessions.revoke",
    "run_bulk_action": "jobs.bulk",
    "select_tenant": "sessions.select_tenant",
    "send_heartbeats": "workers.heartbeat",
    "send_test_request": "jobs.test",
    "set_allowance": "tenants.set_allowance",
    "set_job_labels": "jobs.label",
    "set_job_people": "jobs.people",
    "set_role_binding": "role_bindings.set",
    "skip_occurrence": "jobs.skip",
    "start_backfill": "jobs.backfill",
    "start_backfill_group": "backfill_groups.start",
    "start_round": "sources.run",
    "test_alert_channel": "alert_channels.test",
    "trigger_job": "jobs.trigger",
    "update_job": "jobs.update",
    "widen_tenant": "tenants.widen",
}
"""The method of the clients for each operation. `Worker` uses those of `workers`, too."""

NINE = datetime(2035, 1, 1, 9, tzinfo=UTC)
TEN = datetime(2035, 1, 1, 10, tzinfo=UTC)
ARGUMENTS: dict[str, Any] = {
    **dict.fromkeys(("at", "since", "starts_at"), NINE),
    **dict.fromkeys(("to", "until", "ends_at"), TEN),
    **dict.fromkeys(("first", "last", "day"), NINE.date()),
    **dict.fromkeys(("version", "number", "before", "after", "width", "shard"), 4),
    **{name: ["a"] for name in ("roles", "keys")},
    **{name: {"kind": "x"} for name in ("sink", "source", "channel", "labels", "allowance")},
    "items": [{}],
    "jobs": {"report": {"cron": "0 2 * * *"}},
    "origin": PushOrigin(),
}
"""Values for the required parameters of the methods, by name; all others are texts."""


class SentError(Exception):
    """Ends a call where its request would be sent."""

    def __init__(self, request: Request[Any]) -> None:
        self.line = f"{request.method} {request.path}"
        self.reads = request.reads


class Recorder(Client):
    """A client that stops where it would send."""

    def ask(self, request: Request[Any]) -> Any:
        raise SentError(request)

    def stream(self, request: Request[Any], last_id: str | None = None) -> Any:
        raise SentError(request)


class AsyncRecorder(AsyncClient):
    """The same for an event loop."""

    async def ask(self, request: Request[Any]) -> Any:
        raise SentError(request)

    def stream(self, request: Request[Any], last_id: str | None = None) -> Any:
        raise SentError(request)


def operations() -> dict[str, str]:
    """The method and path of each operation, by name."""
    return dict(line.split(" ", 1) for line in OPERATIONS.read_text().splitlines())


def call(client: Client | AsyncClient, method: str) -> Any:
    """Call a method with a value for each parameter that it requires."""
    called = attrgetter(method)(client)
    wanted = [one for one in signature(called).parameters.values() if one.default is one.empty]
    names = [one.name for one in wanted if one.kind is not one.VAR_KEYWORD]
    if method.endswith("_many"):
        return called("x", [Put("x")] if method == "tasks.schedule_many" else ["x"]) if names else called()
    if method == "sources.push":
        return called("x", "first", [Listed("x", NINE)])
    return called(**{name: ARGUMENTS.get(name, "x") for name in names})


def sent(client: Recorder, method: str) -> SentError:
    """The request that a method of the client sends."""
    with pytest.raises(SentError) as stopped:
        next(call(client, method))
    return stopped.value


async def async_sent(client: AsyncRecorder, method: str) -> SentError:
    """The same for an event loop."""
    made = call(client, method)
    with pytest.raises(SentError) as stopped:
        await (anext(made) if hasattr(made, "__anext__") else made)
    return stopped.value


def fits(template: str, line: str) -> bool:
    """Whether a request is one of a path with parameters."""
    return re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)), line) is not None


def missing(schemas: dict[str, Any], schema: dict[str, Any], kind: Any) -> Iterator[str]:
    """The fields of a schema, and of its parts, that the struct for it does not have."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    for part in schema.get("anyOf", ()):
        yield from missing(schemas, part, kind)
    for one in get_args(kind) if isinstance(kind, UnionType) else (kind,):
        if get_origin(one) is list:
            yield from missing(schemas, schema.get("items", {}), get_args(one)[0])
        elif is_struct_type(get_origin(one) or one):
            fields = {field.encode_name: field.type for field in structs.fields(one)}
            for name, part in schema.get("properties", {}).items():
                where = f"{one.__name__}.{name}"
                yield from missing(schemas, part, fields[name]) if name in fields else [where]


def test_no_operation_of_the_api_is_without_a_method():
    assert sorted(METHODS) == sorted(operations())


def test_every_method_sends_the_request_of_its_operation():
    with Recorder("http://127.0.0.1:1", "horae_x") as client:
        lines = {name: sent(client, method).line for name, method in METHODS.items()}
    assert {name: line for name, line in lines.items() if not fits(operations()[name], line)} == {}


async def test_every_async_method_sends_the_request_of_its_operation():
    async with AsyncRecorder("http://127.0.0.1:1", "horae_x") as client:
        lines = {name: (await async_sent(client, method)).line for name, method in METHODS.items()}
    assert {name: line for name, line in lines.items() if not fits(operations()[name], line)} == {}


def test_every_field_of_an_answer_has_a_field_of_the_model():
    document = make(Mock(spec=Gate), no_cells).openapi()
    answers = {
        facts["operationId"]: answer["content"]["application/json"]["schema"]
        for methods in document["paths"].values()
        for facts in methods.values()
        for status, answer in facts["responses"].items()
        if status.startswith("2") and "application/json" in answer.get("content", {})
    }
    with Recorder("http://127.0.0.1:1", "horae_x") as client:
        reads = {name: sent(client, METHODS[name]).reads for name in answers}
    schemas = document["components"]["schemas"]
    unknown = {name: sorted(set(missing(schemas, schema, reads[name]))) for name, schema in answers.items()}
    assert {name: fields for name, fields in unknown.items() if fields} == {}


def test_no_example_builds_a_request_by_hand():
    root = Path(__file__).parents[2]
    pages = [*root.glob("examples/**/*.py"), *root.glob("docs/**/*.md"), root / "sdk/python/README.md"]
    assert [str(page.relative_to(root)) for page in pages if "client.http." in page.read_text()] == []
