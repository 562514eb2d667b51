"""The application: every router under `/api/v1`, one handler for what is refused, one frame around it all."""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from horae import __version__
from horae.api import probes
from horae.api.console import add_console
from horae.api.doorframe import Doorframe
from horae.api.gate import Gate
from horae.api.metrics import Metrics
from horae.api.openapi import document
from horae.api.problems import handle
from horae.api.routes import (
    changes,
    dead_letters,
    holds,
    identity,
    intakes,
    jobs,
    login,
    operations,
    people,
    runs,
    secrets,
    sources,
    subjects,
    subscriptions,
    tasks,
    tenancies,
    tenants,
    workers,
)
from horae.service.people import People
from horae.service.polls import Polls
from horae.service.readiness import CellReadiness
from horae.service.sessions import Terms
from horae.service.trials import Trials

ROUTERS: Final = (
    tasks.quick,  # they are looked through in this order: the hot ones first
    workers.routes,
    probes.routes,
    probes.measured,
    jobs.routes,
    tasks.routes,
    changes.routes,
    runs.routes,
    dead_letters.routes,
    holds.routes,
    operations.routes,
    operations.days,
    identity.routes,
    secrets.routes,
    sources.routes,
    subjects.routes,
    subscriptions.routes,
    intakes.routes,
    intakes.parking,
    people.routes,
    login.routes,
    tenants.routes,
    tenancies.routes,
)


class Parts(NamedTuple):
    """What some routes need beyond the cells; without it they say that they are not served here.

    `closed` is told when a shard was not open where we looked for it.
    """

    trials: Trials | None = None
    polls: Polls | None = None
    closed: Callable[[], None] = lambda: None
    people: People | None = None
    terms: Terms = Terms()


NONE: Final = Parts()


def make(gate: Gate, look: Callable[[], Awaitable[list[CellReadiness]]], parts: Parts = NONE) -> FastAPI:
    """An application behind a gate. `look` says how it stands with the cells."""
    app = FastAPI(
        title="Horae", version=__version__, openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.state.gate, app.state.look, app.state.metrics = gate, look, Metrics()
    app.state.trials, app.state.polls, app.state.closed, app.state.people, app.state.terms = parts
    for error in (HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(error, handle)
    for router in ROUTERS:
        app.router.routes.extend(router.routes)  # as they are: each knows its whole path and its gate
    probes.add_pages(app)
    add_console(app)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]
    app.add_middleware(Doorframe, metrics=app.state.metrics)
    return app
