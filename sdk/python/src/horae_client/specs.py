"""The parts of a job as values: triggers, targets, policies. A field that is left out has the server's default.

>>> from horae_client import Cron, Http
>>> job = client.jobs.create("NIGHTLY", trigger=Cron("0 2 * * *"), target=Http("https://example.com/nightly"))
>>> job.trigger["dialect"], job.target["url"]
('unix5', 'https://example.com/nightly')
"""

from datetime import datetime
from typing import Any

import msgspec


class Spec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a job's definition."""


class Cron(Spec, frozen=True, tag="cron", tag_field="kind"):
    """A cron expression: 5 fields as in Unix, 6 as in Spring, 7 as in Quartz; in the given zone or the tenant's."""

    expression: str
    dialect: str | None = None
    zone: str | None = None
    dst_gap: str | None = None
    dst_overlap: str | None = None


class Interval(Spec, frozen=True, tag="interval", tag_field="kind"):
    """Every `every` seconds, counted from an anchor."""

    every: float
    anchor: datetime | None = None


class Once(Spec, frozen=True, tag="once", tag_field="kind"):
    """At one time."""

    at: datetime


class Delay(Spec, frozen=True, tag="delay", tag_field="kind"):
    """`seconds` seconds from now."""

    seconds: float


class Keyed(Spec, frozen=True, tag="keyed", tag_field="kind"):
    """A type of tasks: each business key has its own time."""


class CalendarWindow(Spec, frozen=True):
    """A window in days or in calendar months, on the clocks of a zone (default: the zone of the tenant)."""

    days: int | None = None
    months: int | None = None
    zone: str | None = None


class Rolling(Spec, frozen=True, tag="rolling", tag_field="kind"):
    """A set of subjects, each refreshed at most once in a window. A tick takes the oldest and spreads their calls.

    `window` is in seconds, or in days or calendar months. `every` is the seconds between two ticks, or a cron schedule.
    """

    window: float | CalendarWindow
    every: float | Cron
    anchor: datetime | None = None
    budget: float | None = None
    share: float | None = None
    fresh: float | None = None


class Manual(Spec, frozen=True, tag="manual", tag_field="kind"):
    """Only when a user triggers it."""


class After(Spec, frozen=True):
    """Start after another job of the tenant has ended: on `succeeded` (the default), `failed` or `ended`."""

    job: str
    on: str | None = None


Trigger = Cron | Interval | Once | Delay | Keyed | Rolling | Manual


class Http(Spec, frozen=True, tag="http", tag_field="kind"):
    """A URL to call. `signing` names the secret of the signature that receivers verify."""

    url: str
    method: str | None = None
    headers: dict[str, str] | None = None
    connect_timeout: float | None = None
    read_timeout: float | None = None
    query: dict[str, str] | None = None
    body: Any = None
    auth: dict[str, Any] | None = None
    signing: str | None = None
    ca: str | None = None
    batch: int | None = None
    max_concurrency: int | None = None
    rate: float | None = None
    completion_seconds: float | None = None


class Queue(Spec, frozen=True, tag="queue", tag_field="kind"):
    """A queue: tasks wait there until a worker claims them, for `claim_seconds` each."""

    name: str
    claim_seconds: float | None = None


class Topic(Spec, frozen=True, tag="topic", tag_field="kind"):
    """A topic, subject or queue of one of the deployment's brokers. An acknowledged message has succeeded."""

    broker: str
    topic: str
    read_timeout: float | None = None
    max_concurrency: int | None = None
    rate: float | None = None


Target = Http | Queue | Topic


class RetryPolicy(Spec, frozen=True):
    """When to retry, in seconds; the sixth failure is final unless `max_failures` says otherwise."""

    base: float | None = None
    jitter_min: float | None = None
    jitter_max: float | None = None
    longest: float | None = None
    max_failures: int | None = None


class Step(Spec, frozen=True):
    """A step of a graph: the steps that it needs, and its call. Without a target it waits in the queue `graph.step`.

    `rule`: `all_success` (the default), `all_done`, `any_failed` or `none_failed`. `each` makes a mapped step: it
    runs once for each element of a list, `{"$result": "extract", "path": "items"}` or `{"$run": "payload"}`, at most
    `concurrency` of them at the same time, and a share of `tolerated_failures` may fail.
    """

    name: str
    needs: list[str] | None = None
    rule: str | None = None
    target: Target | None = None
    priority: str | None = None
    payload: Any = None
    retry: RetryPolicy | None = None
    limit: dict[str, Any] | None = None
    quotas: list[str] | None = None
    expires_after: float | None = None
    each: dict[str, Any] | None = None
    concurrency: int | None = None
    tolerated_failures: float | None = None

    def __repr__(self) -> str:
        """The fields that were given."""
        given = [f"{name}={value!r}" for name in self.__struct_fields__ if (value := getattr(self, name)) is not None]
        return f"Step({', '.join(given)})"


class Misfire(Spec, frozen=True):
    """What happens to missed fires: `skip`, `once` or `all`."""

    policy: str | None = None
    max_lateness: float | None = None
    cap: int | None = None
    pace: float | None = None


class Spread(Spec, frozen=True):
    """Moves fires off the full minute. `exact`: the job needs the seconds of its schedule, nothing may move it."""

    window: float | None = None
    jitter: float | None = None
    exact: bool | None = None


class CalendarRule(Spec, frozen=True):
    """A job's use of a calendar."""

    calendar: str
    mode: str | None = None


class Policies(Spec, frozen=True):
    """Limits, spread, calendars and misfire of a job; `overlap`: allow, forbid, replace, queue_one."""

    misfire: Misfire | None = None
    overlap: str | None = None
    spread: Spread | None = None
    calendars: list[CalendarRule] | None = None
    start: datetime | None = None
    end: datetime | None = None
    max_count: int | None = None


class Put(Spec, frozen=True):
    """One key of a batch with its new time; now if it is left out."""

    key: str
    at: datetime | None = None
    payload: Any = msgspec.UNSET
    version: int | None = None


class Cancel(Spec, frozen=True):
    """One key of a batch to cancel."""

    key: str
    version: int | None = None


class HttpOrigin(Spec, frozen=True, tag="http", tag_field="kind"):
    """Pages at a URL of yours: the request has `type`, `cursor` and `limit`, the answer `items` and `next`."""

    url: str
    auth: dict[str, Any] | None = None
    signing: str | None = None
    ca: str | None = None
    page: int | None = None


class SqlOrigin(Spec, frozen=True, tag="sql", tag_field="kind"):
    """Rows of your PostgreSQL; `dsn` names a secret. The statement takes the last key as `$1` and a size as `$2`."""

    dsn: str
    statement: str
    ca: str | None = None
    page: int | None = None


class PushOrigin(Spec, frozen=True, tag="push", tag_field="kind"):
    """You push the pages yourself."""


Origin = HttpOrigin | SqlOrigin | PushOrigin


class Listed(Spec, frozen=True):
    """A key that should be pending at a time."""

    key: str
    at: datetime
    version: int | None = None
    payload: Any = msgspec.UNSET
