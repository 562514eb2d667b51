"""How a certificate and its evidence become bytes. The same content always has the same bytes, and the same digest."""

import json
from hashlib import sha256
from typing import Any

import msgspec


def canonical(value: Any) -> bytes:
    """Return JSON in ASCII with sorted keys and without spaces. Times are ISO 8601 in UTC."""
    plain = msgspec.to_builtins(value, str_keys=True, order="deterministic")
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return sha256(content).hexdigest()
