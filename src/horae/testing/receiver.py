"""A real HTTP server that records its requests and gives the configured answers."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from horae_client.testing.calls import ReceivedCall, status_for

Answer = int | Callable[[ReceivedCall], int | None]
About = Callable[[str], dict[str, Any]]
"""Returns the job, instance, fire time and business key of an idempotency key."""
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Receiver:
    """Records requests. `answers` maps a path or job to its answers; the default is 200.

    A list is used up one by one; a number or a function applies to every request.
    """

    def __init__(self, url: str, now: Callable[[], datetime], about: About) -> None:
        self.url = url
        self.answers: dict[str, Any] = {}
        self.status_for: Callable[[ReceivedCall], int] = partial(status_for, self.answers)
        self.arrived: list[ReceivedCall] = []
        self._now = now
        self._about = about
        self._lock = threading.Lock()

    def take(self, method: str, path: str, headers: dict[str, str], body: bytes) -> int:
        """Record a request; returns the status to answer with."""
        status = 200
        for facts in _attempts(headers, body):
            known = self._about(facts["idempotency_key"])
            request = {"at": self._now(), "path": path, "method": method, "headers": headers}
            call = ReceivedCall(**(known | facts | request))
            with self._lock:
                status = self.status_for(call)
                self.arrived.append(msgspec.structs.replace(call, status=status))
        return status


def _attempts(headers: dict[str, str], body: bytes) -> list[dict[str, Any]]:
    """The attempts in a request: one, or a batch. A body that is not a Horae call is the payload itself."""
    try:
        said = msgspec.json.decode(body) if body else None
    except msgspec.DecodeError:
        said = body.decode("utf-8", "replace")
    if isinstance(said, dict) and isinstance(said.get("batch"), list):
        return [_attempt(one) for one in said["batch"]]
    if isinstance(said, dict) and said.get("idempotency_key") == headers.get("idempotency-key"):
        return [_attempt(said)]
    attempt = int(headers.get("horae-attempt", 1))
    return [{"idempotency_key": headers.get("idempotency-key", ""), "attempt": attempt, "payload": said}]


def _attempt(said: dict[str, Any]) -> dict[str, Any]:
    return {key: said.get(key) for key in ("idempotency_key", "attempt", "payload")}


@contextmanager
def receiving(now: Callable[[], datetime], about: About) -> Iterator[Receiver]:
    """A receiver on a free port of this machine, until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = receiver.take(self.command, unquote(urlsplit(self.path).path), headers, body)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Log nothing: the test reads the calls."""

    for method in METHODS:
        setattr(Handler, f"do_{method}", Handler.handle_any)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}", now, about)  # before the first request is served
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
