"""A target: it remembers the fire time of each call, and tells them to whoever asks."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = 8080
fire_times: list[str] = []


class Handler(BaseHTTPRequestHandler):
    """`POST` is a call of Horae; `GET` returns all fire times in the order in which they came."""

    def do_POST(self) -> None:
        """Remember one call."""
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fire_times.append(call["fire_time"])
        self._answer({})

    def do_GET(self) -> None:
        """Tell all calls."""
        self._answer(fire_times)

    def _answer(self, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


ThreadingHTTPServer(("", PORT), Handler).serve_forever()
