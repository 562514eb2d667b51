"""A small key engine with the transit API, as a process of its own: `python -m tests.delivery.transit_server`.

It stands in for Vault or OpenBao, which no package source here offers: the same paths, bodies and refusals, real
sockets, and nothing of their code. It prints its port; `POST /v1/transit/keys/<key>/rotate` adds a version.
"""

import base64
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEYS: dict[str, list[bytes]] = {}


class Refused(Exception):
    """What the caller did wrong."""


class Engine(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("X-Vault-Token") != sys.argv[1]:
            self._say(403, {"errors": ["permission denied"]})
            return
        try:
            self._say(200, {"data": self._do(self.path.split("/"), json.loads(body or b"{}"))})
        except Refused as error:
            self._say(400, {"errors": [str(error)]})

    def _do(self, path: list[str], asked: dict[str, str]) -> dict[str, Any]:
        _, _, _, verb, name, *rest = path
        versions = KEYS.setdefault(name, [os.urandom(32)])
        match verb, rest:
            case "keys", ["rotate"]:
                versions.append(os.urandom(32))
                return {}
            case "encrypt", []:
                return {"ciphertext": encrypt(versions, base64.b64decode(asked["plaintext"]))}
            case "decrypt", []:
                return {"plaintext": base64.b64encode(decrypt(versions, asked["ciphertext"])).decode()}
            case "rewrap", []:
                return {"ciphertext": encrypt(versions, decrypt(versions, asked["ciphertext"]))}
        raise Refused("unsupported path")

    def _say(self, status: int, said: object) -> None:
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def encrypt(versions: list[bytes], clear: bytes) -> str:
    nonce = os.urandom(12)
    text = base64.b64encode(nonce + AESGCM(versions[-1]).encrypt(nonce, clear, None)).decode()
    return f"vault:v{len(versions)}:{text}"


def decrypt(versions: list[bytes], wrapped: str) -> bytes:
    try:
        _, version, text = wrapped.split(":")
        raw = base64.b64decode(text, validate=True)
        return AESGCM(versions[int(version[1:]) - 1]).decrypt(raw[:12], raw[12:], None)
    except (ValueError, IndexError, InvalidTag) as error:
        raise Refused("invalid ciphertext") from error


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
