"""What a target or a worker holds in its hand to answer for one attempt.

The row's own token never leaves the database. Its keyed digest does: bound to instance and attempt, so that an old
one, another one's, or a guessed one is refused.
"""

import hmac
from base64 import urlsafe_b64encode
from uuid import UUID


def completion(instance: UUID, attempt: int, token: UUID) -> str:
    """The completion token of one attempt."""
    digest = hmac.digest(token.bytes, instance.bytes + attempt.to_bytes(4, "big"), "sha256")
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def proves(given: str, instance: UUID, attempt: int, token: UUID) -> bool:
    """Whether a completion token belongs to this attempt; takes the same time either way."""
    return hmac.compare_digest(given.encode(), completion(instance, attempt, token).encode())


def traceparent(instance_id: UUID, span: int) -> str:
    """W3C trace context: all attempts of an instance are one trace, whose id is the instance's own."""
    return f"00-{instance_id.int:032x}-{span:016x}-01"
