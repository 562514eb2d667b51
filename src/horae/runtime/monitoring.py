"""A small HTTP server for probes and metrics, in threads of its own.

It answers while the event loop stands still: then readiness says so. A page is a function that returns quickly and
reads only what all threads may read.
"""

import hmac
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6, socket
from typing import Any, Final, NamedTuple

TEXT: Final = "text/plain; charset=utf-8"
READ_TIMEOUT_S: Final = 5.0
"""Seconds that a client has for its request."""
MAX_CLIENTS: Final = 32
"""Connections that are answered at the same time. One more is closed."""


class MonitoringPage(NamedTuple):
    """The answer to a request for a page."""

    status: int
    body: bytes
    content_type: str = TEXT


Pages = Mapping[str, Callable[[], MonitoringPage]]


class MonitoringServer(ThreadingHTTPServer):
    """Serves pages by their path. A path in `guarded` needs the token as a bearer token, if there is a token."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, port: int, pages: Pages, token: str | None = None, guarded: str = "/metrics") -> None:
        self.address_family = AF_INET6 if ":" in host else AF_INET
        self.pages = pages
        self._token = token
        self._guarded = guarded
        self._places = threading.BoundedSemaphore(MAX_CLIENTS)
        super().__init__((host, port), _Handler)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])

    def admits(self, path: str, authorization: str) -> bool:
        """Whether a request may see a page."""
        if self._token is None or path != self._guarded:
            return True
        return hmac.compare_digest(authorization.encode(), f"Bearer {self._token}".encode())

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread, if not too many are being answered."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a connection, and free its place."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """Ignore a client that breaks off: it harms nobody, and its traceback would tell nobody anything."""


class _Handler(BaseHTTPRequestHandler):
    server: MonitoringServer
    timeout = READ_TIMEOUT_S

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        page = self.server.pages.get(path)
        if page is None:
            self._answer(MonitoringPage(404, b"there are /healthz, /readyz and /metrics\n"))
        elif not self.server.admits(path, self.headers.get("Authorization", "")):
            self._answer(MonitoringPage(401, b"send the token as `Authorization: Bearer ...`\n"))
        else:
            self._answer(page())

    def _answer(self, page: MonitoringPage) -> None:
        self.send_response(page.status)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", str(len(page.body)))
        self.send_header("Cache-Control", "no-store")
        if page.status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(page.body)

    def version_string(self) -> str:
        return "horae"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Log nothing: a probe comes every few seconds."""


@contextmanager
def serve_pages(server: MonitoringServer) -> Iterator[MonitoringServer]:
    """Serve while the block runs."""
    thread = threading.Thread(target=server.serve_forever, name="horae-monitoring", daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
