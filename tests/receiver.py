"""A real HTTP receiver on a free port, with an effect ledger by idempotency key."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

LONGEST_S = 30.0
OPEN = threading.Event()
OPEN.set()


class Receiver:
    """What was received. `answers` maps a path to a list of statuses given one after the other, then 200.

    `bodies` maps a path to what is said with them, `types` to the content type of it, and `gates` to what has to be set
    before anything is said.
    """

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.effects: Counter[str] = Counter()
        self.answers: dict[str, list[int]] = {}
        self.bodies: dict[str, bytes] = {}
        self.types: dict[str, str] = {}
        self.gates: dict[str, threading.Event] = {}
        self.url = ""
        self.arrived = threading.Event()

    def status(self, path: str) -> int:
        waiting = self.answers.get(path)
        return waiting.pop(0) if waiting else 200


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.calls.append(msgspec.json.decode(body))
            receiver.arrived.set()
            receiver.headers.append({name.lower(): value for name, value in self.headers.items()})
            receiver.gates.get(self.path, OPEN).wait(LONGEST_S)
            status = receiver.status(self.path)
            if status < 300:
                receiver.effects[self.headers["Idempotency-Key"]] += 1
            answer = receiver.bodies.get(self.path, b"effect" if status < 300 else b"no")
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            if self.path in receiver.types:
                self.send_header("Content-Type", receiver.types[self.path])
            if status == 299:
                self.send_header("Horae-Outcome", "declined")
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
