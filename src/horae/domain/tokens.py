"""What a target or a worker holds in its hand to answer for one attempt.

The row's own token never leaves the database. Its keyed digest does: bound to instance and attempt, so that an old
one, another one's, or a guessed one is refused.
"""

import hmac
from binascii import b2a_base64
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Final
from uuid import UUID

BLOCK: Final = 64
BATCHES_AT_ONCE: Final = 64
"""Tokens whose keyed blocks are remembered: all attempts of a batch have one."""
INNER, OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))
"""HMAC's two paddings, as tables for `bytes.translate`."""
FOR_URLS: Final = bytes.maketrans(b"+/", b"-_")


def completion(instance: UUID, attempt: int, token: UUID) -> str:
    """The completion token of one attempt."""
    return completing(token)(instance, attempt)


@lru_cache(BATCHES_AT_ONCE)
def completing(token: UUID) -> Callable[[UUID, int], str]:
    """`completion` for many attempts under one token: the same HMAC, whose keyed blocks are hashed once."""
    key = token.bytes.ljust(BLOCK, b"\0")
    inner, outer = sha256(key.translate(INNER)).copy, sha256(key.translate(OUTER)).copy

    def complete(instance: UUID, attempt: int) -> str:
        within, around = inner(), outer()
        within.update(instance.bytes + attempt.to_bytes(4, "big"))
        around.update(within.digest())
        return b2a_base64(around.digest(), newline=False).translate(FOR_URLS, b"=").decode()

    return complete


def proves(given: str, instance: UUID, attempt: int, token: UUID) -> bool:
    """Whether a completion token belongs to this attempt; takes the same time either way."""
    return hmac.compare_digest(given.encode(), completion(instance, attempt, token).encode())


def traceparent(instance_id: UUID, span: int) -> str:
    """W3C trace context: all attempts of an instance are one trace, whose id is the instance's own."""
    return f"00-{instance_id.bytes.hex()}-{span:016x}-01"
