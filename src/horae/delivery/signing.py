"""Signatures for receivers: Standard Webhooks, HMAC-SHA256 over `{id}.{timestamp}.{body}`."""

import hmac
from base64 import b64decode, b64encode
from functools import lru_cache
from typing import Final

PREFIX: Final = "whsec_"
MIN_KEY_BYTES: Final = 24
MAX_KEY_BYTES: Final = 64
MOST_VALUES: Final = 1024
"""Secrets whose decoded keys are cached."""

Keys = tuple[bytes, ...]


@lru_cache(MOST_VALUES)
def keys_of(value: str) -> Keys:
    """Return the keys in a secret: one `whsec_…`, or several separated by spaces while a key is being replaced.

    Raises `ValueError` for anything else; the message does not repeat the value.
    """
    keys = tuple(_key(word) for word in value.split())
    if not keys:
        raise ValueError("it is empty")
    return keys


def sign(keys: Keys, id_: str, timestamp: int, body: bytes) -> str:
    """Return the value of `webhook-signature`: one signature per key."""
    signed = f"{id_}.{timestamp}.".encode() + body
    return " ".join(["v1," + b64encode(hmac.digest(key, signed, "sha256")).decode() for key in keys])


def _key(word: str) -> bytes:
    if not word.startswith(PREFIX):
        raise ValueError(f"a signing secret begins with {PREFIX}")
    text = word.removeprefix(PREFIX).rstrip("=")
    key = b64decode(text + "=" * (-len(text) % 4), validate=True)  # many tools leave the padding out
    if not MIN_KEY_BYTES <= len(key) <= MAX_KEY_BYTES:
        raise ValueError(f"a signing secret has {MIN_KEY_BYTES} to {MAX_KEY_BYTES} bytes")
    return key
