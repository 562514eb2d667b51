"""Bodies: what two readers could understand differently is refused; the rest is a model, or a refusal of ours."""

import json
from datetime import UTC, datetime
from uuid import UUID

import msgspec
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from horae.api.hot import HotBody
from horae.api.models import (
    backfills,
    bulk,
    calendars,
    dead_letters,
    identity,
    instances,
    jobs,
    operations,
    tasks,
    tenants,
    versions,
    workers,
)
from horae.api.problems import problem_of
from horae.api.reading import loads
from horae.domain.errors import BadRequest, HoraeError
from horae.domain.tenants.tenants import Tenant

TENANT = Tenant(UUID("01935a5e-0000-7000-8000-000000000000"), "acme")
NOW = datetime(2026, 11, 15, tzinfo=UTC)
KINDS: tuple[type[BaseModel] | type[msgspec.Struct], ...] = (
    jobs.NewJob,
    versions.UpdateJob,
    versions.SetLabels,
    versions.MoveOccurrence,
    bulk.BulkJobsRequest,
    dead_letters.ReplayDeadLetters,
    identity.NewApiKey,
    identity.SetRoles,
    instances.NewRun,
    backfills.NewBackfill,
    backfills.NewBackfillGroup,
    calendars.NewCalendar,
    operations.JobTestRequest,
    tenants.AllowanceSpec,
    tenants.NewTenant,
    tasks.PutTask,
    tasks.PutTasks,
    tasks.CancelTasks,
    workers.PollRequest,
    workers.HeartbeatRequests,
    workers.FinishRequests,
    workers.FailRequests,
)
SEEDS = tuple(
    bytes([KINDS.index(kind)]) + json.dumps(value).encode()
    for kind, value in (
        (jobs.NewJob, {"name": "j", "cron": "0 */5 * * * ?", "timezone": "Asia/Shanghai"}),
        (jobs.NewJob, {"name": "j", "trigger": {"kind": "interval", "every": 60.5, "anchor": "2026-01-01T00:00:00Z"}}),
        (jobs.NewJob, {"name": "j", "target": {"kind": "http", "url": "https://example.com/", "headers": {"a": "b"}}}),
        (jobs.NewJob, {"name": "j", "policies": {"misfire": {"policy": "all", "cap": 5}, "spread": {"jitter": 1}}}),
        (versions.UpdateJob, {"version": 1, "cron": "* * * * *", "labels": {"a": "b"}, "retry": {"base": 1}}),
        (calendars.NewCalendar, {"first": "2026-01-01", "last": "2026-12-31", "weekdays": [1], "added": []}),
        (tenants.AllowanceSpec, {"weight": 2, "quotas": {"q": {"rate": 1}}, "egress": {"networks": ["10.0.0.0/8"]}}),
        (identity.NewApiKey, {"name": "k", "roles": ["viewer"], "expires_at": "2030-01-01T00:00:00+08:00"}),
        (tasks.PutTasks, {"tasks": [{"key": "a", "at": "2026-11-15T09:00:00+08:00", "payload": {"a": [1, None]}}]}),
        (workers.FinishRequests, {"items": [{"instance_id": "ins_1", "attempt": 1, "token": "t", "declined": True}]}),
        (workers.PollRequest, {"queue": "q", "worker_id": "w", "limit": 10, "wait": 0.5}),
    )
)


def feed(data: bytes) -> None:
    """The first byte chooses the model."""
    raw = data[1:]
    try:
        value = loads(raw)
    except BadRequest:
        return
    assert json.loads(raw) == value
    try:
        _read(KINDS[data[0] % len(KINDS)], value)
    except ValidationError as error:
        places = [one | {"loc": ("body", *one["loc"])} for one in error.errors()]  # as the framework tells it
        _told(RequestValidationError(places, body=value))
    except HoraeError as error:
        _told(error)


def _read(kind: type[BaseModel] | type[msgspec.Struct], value: object) -> None:
    """As far as a door goes before it asks the service."""
    if issubclass(kind, msgspec.Struct):
        msgspec.json.encode(HotBody(kind).read(value))
        return
    made = kind.model_validate(value)
    made.model_dump_json()
    match made:
        case jobs.NewJob():
            made.definition(TENANT, made.name, NOW)
        case versions.UpdateJob():
            made.definition(TENANT, "j", NOW)
        case tenants.AllowanceSpec():
            tenants.AllowanceSpec.of(made.to_domain())
        case calendars.NewCalendar():
            calendars.CalendarView.of(made.to_domain("c"))
        case bulk.BulkJobsRequest():
            made.to_domain()
        case _:
            pass


def _told(error: Exception) -> None:
    answer = problem_of(error)
    assert 400 <= answer.status_code < 500, error
    assert json.loads(bytes(answer.body))["code"]
