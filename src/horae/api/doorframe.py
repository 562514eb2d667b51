"""Around every request: time it, count it, and put the headers on that no answer may miss."""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from horae.api.metrics import Metrics
from horae.runtime.clock import boottime

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


class Doorframe:
    """ASGI middleware. It touches no body."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = boottime(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        self._metrics.inside.inc()
        try:
            await self._app(scope, receive, sending)
        finally:
            self._metrics.inside.dec()
            route = getattr(scope.get("route"), "path", "none")
            self._metrics.requests.labels(route, scope["method"], status).inc()
            self._metrics.seconds.labels(route).observe(boottime() - began)
