"""A receiver that checks every signature with the official library, in a thread of its own."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
from standardwebhooks import Webhook, WebhookVerificationError


class Hook:
    """What arrived. `secret` is the one that it knows now; `statuses` are given one after the other, per key."""

    def __init__(self, secret: str | None = None) -> None:
        self.secret = secret
        self.verified: Counter[str] = Counter()
        self.refused: list[str] = []
        self.payloads: dict[str, Any] = {}
        self.ids: Counter[tuple[str, str]] = Counter()
        self.paths: Counter[str] = Counter()
        self.statuses: dict[str, list[int]] = {}
        self.signatures = 0  # on the latest call
        self.url = ""

    def heard(self, path: str, headers: dict[str, str], body: bytes) -> int:
        key = headers.get("idempotency-key", "")
        if self.secret is not None:
            self.signatures = len(headers["webhook-signature"].split())
            try:
                Webhook(self.secret).verify(body, headers)
            except WebhookVerificationError as error:
                self.refused.append(str(error))
                return 401
            self.verified[self.secret] += 1
            self.ids[key, headers["webhook-id"]] += 1
        self.payloads[key] = msgspec.json.decode(body)
        self.paths[path] += 1
        waiting = self.statuses.get(path)
        return waiting.pop(0) if waiting else 200


@contextmanager
def hooked(secret: str | None = None, *, echo: bool = False) -> Iterator[Hook]:
    """A listening hook. `echo`: it answers with all that it was sent, headers too."""
    hook = Hook(secret)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = hook.heard(self.path, headers, body)
            answer = body + str(self.headers).encode() if echo else b"ok"
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 1024  # many call at once

    server = Server(("127.0.0.1", 0), Handler)
    hook.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hook
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
