"""`Client` and `AsyncClient`: they send requests, return answers, and retry where that is safe."""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Iterator
from sys import version_info
from types import TracebackType
from typing import Any, Final, TypeVar

import httpx2

from horae_client import aio, retries, sync
from horae_client.aio.alerts import AsyncAlertChannels, AsyncAlertRules, AsyncAlerts, AsyncSilences
from horae_client.aio.audit import AsyncAuditLog
from horae_client.aio.backfills import AsyncBackfillGroups, AsyncBackfills
from horae_client.aio.calendars import AsyncCalendars
from horae_client.aio.dead_letters import AsyncDeadLetters, AsyncFailureCauses, AsyncPacedReplays
from horae_client.aio.events import AsyncIntakes, AsyncParkedMessages, AsyncSubscriptions
from horae_client.aio.graphs import AsyncGraphs
from horae_client.aio.identity import AsyncApiKeys, AsyncRoleBindings, AsyncSessions
from horae_client.aio.instances import AsyncHolds, AsyncInstances
from horae_client.aio.jobs import AsyncJobs
from horae_client.aio.plans import AsyncPlans
from horae_client.aio.queues import AsyncQueues, AsyncWorkers
from horae_client.aio.scheduler import AsyncScheduler
from horae_client.aio.secrets import AsyncSecrets
from horae_client.aio.sources import AsyncSources
from horae_client.aio.subjects import AsyncSubjects
from horae_client.aio.tasks import AsyncTasks
from horae_client.aio.tenants import AsyncOwnTenant, AsyncTenants
from horae_client.asked import scheduler
from horae_client.errors import Unreachable
from horae_client.models import Health
from horae_client.retries import Retries
from horae_client.sync.alerts import AlertChannels, AlertRules, Alerts, Silences
from horae_client.sync.audit import AuditLog
from horae_client.sync.backfills import BackfillGroups, Backfills
from horae_client.sync.calendars import Calendars
from horae_client.sync.dead_letters import DeadLetters, FailureCauses, PacedReplays
from horae_client.sync.events import Intakes, ParkedMessages, Subscriptions
from horae_client.sync.graphs import Graphs
from horae_client.sync.identity import ApiKeys, RoleBindings, Sessions
from horae_client.sync.instances import Holds, Instances
from horae_client.sync.jobs import Jobs
from horae_client.sync.plans import Plans
from horae_client.sync.queues import Queues, Workers
from horae_client.sync.scheduler import Scheduler
from horae_client.sync.secrets import Secrets
from horae_client.sync.sources import Sources
from horae_client.sync.subjects import Subjects
from horae_client.sync.tasks import Tasks
from horae_client.sync.tenants import OwnTenant, Tenants
from horae_client.traces import traceparent
from horae_client.version import VERSION
from horae_client.wire import Request, ascii_only, read

__all__ = ["AsyncClient", "Client", "aio", "sync"]
T = TypeVar("T")
NO_ANSWER: Final = (httpx2.HTTPError, httpx2.InvalidURL)
OK: Final = 200
USER_AGENT: Final = f"horae-client/{VERSION} python/{version_info.major}.{version_info.minor}"


class Client:
    """The blocking client of Horae. Threads can share it. Close it, or use it in a `with` block.

    `url` and `key` default to `HORAE_URL` and `HORAE_KEY`.

    >>> from horae_client import Client
    >>> with Client(url, key) as client:
    ...     health = client.health()
    >>> health.cells_down
    []
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.retries = retries or Retries()
        self.http = httpx2.Client(**settings(url, key, timeout), transport=transport)
        self.jobs, self.tasks, self.instances = Jobs(self), Tasks(self), Instances(self)
        self.backfills, self.dead_letters, self.calendars = Backfills(self), DeadLetters(self), Calendars(self)
        self.failure_causes, self.paced_replays = FailureCauses(self), PacedReplays(self)
        self.backfill_groups, self.graphs = BackfillGroups(self), Graphs(self)
        self.sources, self.subjects, self.holds = Sources(self), Subjects(self), Holds(self)
        self.queues, self.workers = Queues(self), Workers(self)
        self.alerts, self.alert_channels = Alerts(self), AlertChannels(self)
        self.alert_rules, self.silences = AlertRules(self), Silences(self)
        self.api_keys, self.role_bindings, self.sessions = ApiKeys(self), RoleBindings(self), Sessions(self)
        self.secrets, self.audit, self.scheduler = Secrets(self), AuditLog(self), Scheduler(self)
        self.subscriptions, self.intakes = Subscriptions(self), Intakes(self)
        self.parked_messages, self.plans = ParkedMessages(self), Plans(self)
        self.tenant, self.tenants = OwnTenant(self), Tenants(self)

    def health(self) -> Health:
        """The health of the scheduler.

        >>> health = client.health()
        >>> health.mode
        'NORMAL'
        """
        return self.ask(scheduler.health())

    def ask(self, request: Request[T]) -> T:
        """Send any request of `horae_client.asked`, with retries. All methods of the client use this one.

        >>> from horae_client.asked import jobs
        >>> job = client.ask(jobs.get("coupon_job"))
        >>> job.name
        'coupon_job'
        """
        began, tried = time.monotonic(), 0
        while True:
            tried += 1
            try:
                return self._once(request)
            except Exception as error:
                spent = time.monotonic() - began
                pause = retries.wait(self.retries, request, error, tried, spent, random.random())  # noqa: S311
                if pause is None:
                    raise
                time.sleep(pause)

    def close(self) -> None:
        """Close all connections.

        >>> from horae_client import Client
        >>> Client(url, key).close()
        """
        self.http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def stream(self, request: Request[T], last_id: str | None = None) -> Iterator[str]:
        """Open a stream of events, after the event with that id, and yield its lines.

        >>> from horae_client.asked import instances
        >>> letters = [one for one in client.dead_letters.list()]
        >>> lines = list(client.stream(instances.tail(letters[0].instance_id)))
        >>> lines[0]
        'event: end'
        """
        try:
            with self.http.stream(request.method, request.path, headers=_stream_headers(last_id)) as answer:
                if answer.status_code != OK:
                    read(request, answer.status_code, answer.headers, answer.read())
                yield from answer.iter_lines()
        except NO_ANSWER as error:
            raise Unreachable(f"{request.method} {request.path}: {error or type(error).__name__}") from error

    def _once(self, request: Request[T]) -> T:
        try:
            answer = self.http.request(request.method, request.path, **parts(request))
        except NO_ANSWER as error:
            raise Unreachable(f"{request.method} {request.path}: {error or type(error).__name__}") from error
        return read(request, answer.status_code, answer.headers, answer.content)


class AsyncClient:
    """The client of Horae for an event loop. Close it, or use it in an `async with` block.

    >>> from horae_client import AsyncClient
    >>> async with AsyncClient(url, key) as client:
    ...     health = await client.health()
    >>> health.cells_down
    []
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.retries = retries or Retries()
        self.http = httpx2.AsyncClient(**settings(url, key, timeout), transport=transport)
        self.jobs, self.tasks, self.instances = AsyncJobs(self), AsyncTasks(self), AsyncInstances(self)
        self.backfills, self.dead_letters = AsyncBackfills(self), AsyncDeadLetters(self)
        self.failure_causes, self.paced_replays = AsyncFailureCauses(self), AsyncPacedReplays(self)
        self.backfill_groups, self.graphs = AsyncBackfillGroups(self), AsyncGraphs(self)
        self.calendars, self.sources = AsyncCalendars(self), AsyncSources(self)
        self.subjects, self.holds = AsyncSubjects(self), AsyncHolds(self)
        self.queues, self.workers = AsyncQueues(self), AsyncWorkers(self)
        self.alerts, self.alert_channels = AsyncAlerts(self), AsyncAlertChannels(self)
        self.alert_rules, self.silences = AsyncAlertRules(self), AsyncSilences(self)
        self.api_keys, self.role_bindings = AsyncApiKeys(self), AsyncRoleBindings(self)
        self.sessions, self.secrets = AsyncSessions(self), AsyncSecrets(self)
        self.audit, self.scheduler = AsyncAuditLog(self), AsyncScheduler(self)
        self.subscriptions, self.intakes = AsyncSubscriptions(self), AsyncIntakes(self)
        self.parked_messages, self.plans = AsyncParkedMessages(self), AsyncPlans(self)
        self.tenant, self.tenants = AsyncOwnTenant(self), AsyncTenants(self)

    async def health(self) -> Health:
        """The health of the scheduler.

        >>> health = await client.health()
        >>> health.mode
        'NORMAL'
        """
        return await self.ask(scheduler.health())

    async def ask(self, request: Request[T]) -> T:
        """Send any request of `horae_client.asked`, with retries. All methods of the client use this one.

        >>> from horae_client.asked import jobs
        >>> job = await client.ask(jobs.get("coupon_job"))
        >>> job.name
        'coupon_job'
        """
        began, tried = time.monotonic(), 0
        while True:
            tried += 1
            try:
                return await self.once(request)
            except Exception as error:
                spent = time.monotonic() - began
                pause = retries.wait(self.retries, request, error, tried, spent, random.random())  # noqa: S311
                if pause is None:
                    raise
                await asyncio.sleep(pause)

    async def once(self, request: Request[T], patience: float | None = None) -> T:
        """Send a request once, without retries; `patience` is how many seconds it may take.

        >>> from horae_client.asked import jobs
        >>> job = await client.once(jobs.get("coupon_job"))
        >>> job.name
        'coupon_job'
        """
        try:
            answer = await self.http.request(request.method, request.path, **parts(request, patience))
        except NO_ANSWER as error:
            raise Unreachable(f"{request.method} {request.path}: {error or type(error).__name__}") from error
        return read(request, answer.status_code, answer.headers, answer.content)

    async def stream(self, request: Request[T], last_id: str | None = None) -> AsyncIterator[str]:
        """Open a stream of events, after the event with that id, and yield its lines.

        >>> from horae_client.asked import instances
        >>> letters = [one async for one in client.dead_letters.list()]
        >>> lines = [line async for line in client.stream(instances.tail(letters[0].instance_id))]
        >>> lines[0]
        'event: end'
        """
        try:
            async with self.http.stream(request.method, request.path, headers=_stream_headers(last_id)) as answer:
                if answer.status_code != OK:
                    read(request, answer.status_code, answer.headers, await answer.aread())
                async for line in answer.aiter_lines():
                    yield line
        except NO_ANSWER as error:
            raise Unreachable(f"{request.method} {request.path}: {error or type(error).__name__}") from error

    async def close(self) -> None:
        """Close all connections.

        >>> from horae_client import AsyncClient
        >>> await AsyncClient(url, key).close()
        """
        await self.http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def settings(url: str | None, key: str | None, timeout: float) -> dict[str, Any]:
    """The settings of both clients. A missing address or key raises here, not at the first request."""
    url, key = url or os.environ.get("HORAE_URL"), key or os.environ.get("HORAE_KEY")
    if not url or not key:
        raise ValueError("a client needs the address of the API and a key: give them, or set HORAE_URL and HORAE_KEY")
    headers = {"Authorization": f"Bearer {ascii_only(key, 'API key')}", "User-Agent": USER_AGENT}
    return {"base_url": url.rstrip("/"), "headers": headers, "timeout": timeout}


def _stream_headers(last_id: str | None) -> dict[str, str]:
    """The headers that ask for a stream of events."""
    return {"Accept": "text/event-stream", **({} if last_id is None else {"Last-Event-ID": last_id})}


def parts(request: Request[Any], patience: float | None = None) -> dict[str, Any]:
    """A request as arguments of the HTTP library."""
    made = {"params": dict(request.query) or None, "content": request.content(), "headers": request.headers()}
    if (context := traceparent()) is not None:
        made["headers"] = {**request.headers(), "traceparent": context}
    return made if patience is None else {**made, "timeout": patience}
