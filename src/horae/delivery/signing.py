"""Signatures a receiver can check: Standard Webhooks, HMAC-SHA256 over `{id}.{timestamp}.{body}`."""

import hmac
from base64 import b64decode, b64encode
from functools import lru_cache
from typing import Final

PREFIX: Final = "whsec_"
SHORTEST_KEY, LONGEST_KEY = 24, 64
MOST_VALUES: Final = 1024

Keys = tuple[bytes, ...]


@lru_cache(MOST_VALUES)
def keys_of(value: str) -> Keys:
    """The keys in a secret: one `whsec_…`, or several with spaces between while one replaces the other.

    Raises `ValueError` for what is no such key; its message does not repeat the value.
    """
    keys = tuple(_key(word) for word in value.split())
    if not keys:
        raise ValueError("it is empty")
    return keys


def sign(keys: Keys, id_: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature`: one signature per key."""
    signed = f"{id_}.{timestamp}.".encode() + body
    return " ".join(["v1," + b64encode(hmac.digest(key, signed, "sha256")).decode() for key in keys])


def _key(word: str) -> bytes:
    if not word.startswith(PREFIX):
        raise ValueError(f"a signing secret begins with {PREFIX}")
    text = word.removeprefix(PREFIX).rstrip("=")
    key = b64decode(text + "=" * (-len(text) % 4), validate=True)  # many tools leave the padding out
    if not SHORTEST_KEY <= len(key) <= LONGEST_KEY:
        raise ValueError(f"a signing secret has {SHORTEST_KEY} to {LONGEST_KEY} bytes")
    return key
