"""Idempotency keys: one for each call, kept for all its retries."""

from uuid import uuid4


def made(given: str | None = None) -> str:
    """The given key, or a new one.

    >>> from horae_client import keys
    >>> keys.made("order-42")
    'order-42'
    """
    return given or uuid4().hex
