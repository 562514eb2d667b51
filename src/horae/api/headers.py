"""Middleware around every request: measure, count and trace it, and add the security headers to the response.

With these headers a browser runs no script of a response, loads nothing from other sites, and does not frame it.
"""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from horae.api.metrics import Metrics
from horae.api.problems import problem_of
from horae.api.traces import begin_request, end_request
from horae.runtime.clock import boottime
from horae.runtime.telemetry import bind, unbind
from horae.runtime.tracing import Tracer

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
RAW_HEADERS: Final = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
PAGE_POLICY: Final = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""For pages with scripts and styles in files of this server: nothing inline, nothing from other sites."""


class HeadersMiddleware:
    """ASGI middleware. It does not read or change bodies."""

    def __init__(self, app: ASGIApp, metrics: Metrics, tracer: Tracer | None = None) -> None:
        self._app = app
        self._metrics = metrics
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, answered = boottime(), 500, False

        async def sending(message: Message) -> None:
            nonlocal status, answered
            if message["type"] == "http.response.start":
                status, answered = message["status"], True
                given = message.get("headers", ())
                present = {name for name, _ in given}
                message["headers"] = [*given, *(header for header in RAW_HEADERS if header[0] not in present)]
            await send(message)

        trace = None if self._tracer is None else begin_request(self._tracer, scope)
        if trace is not None:
            bind(trace_id=f"{trace.context.trace_id:032x}")
        self._metrics.inside.inc()
        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            if answered:
                raise
            await problem_of(error)(scope, receive, sending)  # the default response of the framework has no headers
        finally:
            unbind("tenant", "trace_id")
            self._metrics.inside.dec()
            route = getattr(scope.get("route"), "path_format", "none")
            self._metrics.count_request(route, scope["method"], status, boottime() - began)
            if self._tracer is not None and trace is not None:
                end_request(self._tracer, trace, scope["method"], route, status)
