"""Completion tokens: a target or a worker proves with one that it answers for one attempt.

The token of the row never leaves the database. Its keyed digest does, bound to instance and attempt: an old token, a
token of another attempt, or a guessed one is refused.
"""

import hmac
from binascii import b2a_base64
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Final
from uuid import UUID

SHA256_BLOCK_BYTES: Final = 64
BATCHES_AT_ONCE: Final = 64
"""Tokens whose keyed blocks are cached: all attempts of a batch have the same token."""
INNER_PADDING: Final = bytes(byte ^ 0x36 for byte in range(256))
"""The inner padding of HMAC, as a table for `bytes.translate`."""
OUTER_PADDING: Final = bytes(byte ^ 0x5C for byte in range(256))
"""The outer padding of HMAC, as a table for `bytes.translate`."""
FOR_URLS: Final = bytes.maketrans(b"+/", b"-_")


def completion_token(instance: UUID, attempt: int, token: UUID) -> str:
    """Return the completion token of one attempt."""
    return completion_token_maker(token)(instance, attempt)


@lru_cache(BATCHES_AT_ONCE)
def completion_token_maker(token: UUID) -> Callable[[UUID, int], str]:
    """Return `completion_token` for many attempts with one token: the same HMAC, with its keyed blocks hashed once."""
    key = token.bytes.ljust(SHA256_BLOCK_BYTES, b"\0")
    inner, outer = sha256(key.translate(INNER_PADDING)).copy, sha256(key.translate(OUTER_PADDING)).copy

    def complete(instance: UUID, attempt: int) -> str:
        within, around = inner(), outer()
        within.update(instance.bytes + attempt.to_bytes(4, "big"))
        around.update(within.digest())
        return b2a_base64(around.digest(), newline=False).translate(FOR_URLS, b"=").decode()

    return complete


def is_completion_token(given: str, instance: UUID, attempt: int, token: UUID) -> bool:
    """Whether a completion token belongs to this attempt; takes the same time in both cases."""
    return hmac.compare_digest(given.encode(), completion_token(instance, attempt, token).encode())
