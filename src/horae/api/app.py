"""The application: all routers under `/api/v1`, the error handler, and the middleware."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from horae import __version__
from horae.api import probes
from horae.api.console import add_console
from horae.api.gate import Gate
from horae.api.headers import HeadersMiddleware
from horae.api.hot import HotRoutes
from horae.api.metrics import Metrics
from horae.api.openapi import document
from horae.api.problems import handle
from horae.api.routes import (
    alert_settings,
    alerts,
    backfills,
    calendars,
    changes,
    dead_letters,
    drills,
    explanations,
    forecasts,
    graphs,
    holds,
    identity,
    incidents,
    intakes,
    jobs,
    login,
    logs,
    measures,
    moves,
    operations,
    people,
    plans,
    queues,
    runs,
    secrets,
    sources,
    subjects,
    subscriptions,
    tasks,
    tenancies,
    tenants,
    triage,
    workers,
)
from horae.runtime.metrics import MetricSource
from horae.runtime.tracing import Tracer
from horae.service.health.readiness import CellReadiness
from horae.service.identity.people import People
from horae.service.identity.sessions import Terms
from horae.service.targets.trials import Trials
from horae.service.workers.polls import Polls

ROUTERS: Final = (
    tasks.quick,  # routes are matched in this order: the busiest first
    workers.routes,
    probes.routes,
    probes.measured,
    jobs.routes,
    tasks.routes,
    changes.routes,
    forecasts.routes,
    runs.routes,
    graphs.routes,
    logs.routes,
    backfills.routes,
    dead_letters.routes,
    triage.routes,
    holds.routes,
    explanations.routes,
    queues.routes,
    operations.routes,
    moves.routes,
    incidents.routes,
    measures.routes,
    drills.routes,
    calendars.routes,
    plans.routes,
    identity.routes,
    secrets.routes,
    sources.routes,
    subjects.routes,
    subscriptions.routes,
    alerts.routes,
    alert_settings.routes,
    intakes.routes,
    intakes.parking,
    people.routes,
    login.routes,
    tenants.routes,
    tenancies.routes,
)


class AppParts(NamedTuple):
    """Services that some routes need; without them these routes answer that they are unavailable.

    `closed` is called when a shard was not open in the expected cell. `metrics` are further sources of `/metrics`.
    `tracer` records the spans of requests. `trace_link` is the address of a trace, with `{trace_id}` in it.
    """

    trials: Trials | None = None
    polls: Polls | None = None
    closed: Callable[[], None] = lambda: None
    people: People | None = None
    terms: Terms = Terms()
    metrics: Sequence[MetricSource] = ()
    tracer: Tracer | None = None
    trace_link: str | None = None


NONE: Final = AppParts()


class Application(FastAPI):
    """The application. Requests for hot routes pass by the layers of the framework."""

    _hot: HotRoutes | None = None

    def serve_hot_routes(self, metrics: Metrics, tracer: Tracer | None) -> None:
        """Begin to do so, once all routes are there."""
        self._hot = HotRoutes(self, self.router.routes)
        self._around_hot = HeadersMiddleware(self._hot, metrics, tracer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if self._hot is not None and scope["type"] == "http" and self._hot.find(scope):
            await self._around_hot(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def make(gate: Gate, look: Callable[[], Awaitable[list[CellReadiness]]], parts: AppParts = NONE) -> FastAPI:
    """Returns the application. `look` returns the readiness of the cells."""
    app = Application(
        title="Horae", version=__version__, openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.state.gate, app.state.look, app.state.metrics = gate, look, Metrics(*parts.metrics)
    app.state.trials, app.state.polls, app.state.closed = parts.trials, parts.polls, parts.closed
    app.state.people, app.state.terms = parts.people, parts.terms
    app.state.tracer, app.state.trace_link = parts.tracer, parts.trace_link
    for error in (HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(error, handle)
    for router in ROUTERS:
        app.router.routes.extend(router.routes)  # each route has its whole path and its gate
    probes.add_pages(app)
    add_console(app)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]
    app.add_middleware(HeadersMiddleware, metrics=app.state.metrics, tracer=parts.tracer)
    app.serve_hot_routes(app.state.metrics, parts.tracer)
    return app
