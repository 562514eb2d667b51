"""Signatures of calls: Standard Webhooks, HMAC-SHA256 over `{id}.{timestamp}.{body}`.

A call may carry several signatures, and a receiver may accept several secrets, so that a secret can be replaced without
interruption.
"""

import hmac
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Final

from horae_client.errors import HoraeError

PREFIX: Final = "whsec_"
TOLERANCE: Final = 300.0
MAX_STAMP_DIGITS: Final = 20


class BadSignature(HoraeError):
    """The call is not from Horae, was changed on its way, or is too old."""


def verify(
    secrets: str | Iterable[str],
    headers: Mapping[str, str],
    body: bytes,
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> str:
    """Verify a call; returns its id, which is its idempotency key. Raises `BadSignature` for any other call.

    `secrets` is one secret, several separated by spaces, or a list. `body` is the received body, byte for byte. A call
    whose time differs by more than `tolerance` seconds is refused, because it may be a replayed one.

    >>> from horae_client.receive import sign, verify
    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> headers = sign(secret, "key-1", b"{}", now=1000)
    >>> verify(["whsec_b2xkZXIgdGhhbiB0aGF0LCBidXQgZ29vZA==", secret], headers, b"{}", now=1200)
    'key-1'
    >>> verify(secret, headers, b"{ }", now=1200)
    Traceback (most recent call last):
        ...
    BadSignature: no signature of this call was made with a secret of ours
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    try:
        id_, stamp, given = (lowered[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature"))
        sent = int(stamp)
    except (KeyError, ValueError):
        raise BadSignature("the call carries no signature") from None
    if len(stamp) > MAX_STAMP_DIGITS or abs((time.time() if now is None else now) - sent) > tolerance:
        raise BadSignature("the call is too old, or from the future")
    signatures = [word.partition(",")[2].encode() for word in given.split() if word.startswith("v1,")]
    good = False
    for key in keys_of(secrets):
        expected = b64encode(hmac.digest(key, f"{id_}.{sent}.".encode() + body, "sha256"))
        for signature in signatures:
            good |= hmac.compare_digest(expected, signature)  # compare all, so that the time says nothing
    if not good:
        raise BadSignature("no signature of this call was made with a secret of ours")
    return id_


def sign(secrets: str | Iterable[str], id_: str, body: bytes, *, now: float | None = None) -> dict[str, str]:
    """The headers that Horae would send: for tests of receivers.

    >>> from horae_client.receive import sign
    >>> sorted(sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "key-1", b"{}", now=1000))
    ['webhook-id', 'webhook-signature', 'webhook-timestamp']
    """
    stamp = int(time.time() if now is None else now)
    signed = f"{id_}.{stamp}.".encode() + body
    made = ["v1," + b64encode(hmac.digest(key, signed, "sha256")).decode() for key in keys_of(secrets)]
    return {"webhook-id": id_, "webhook-timestamp": str(stamp), "webhook-signature": " ".join(made)}


def keys_of(secrets: str | Iterable[str]) -> list[bytes]:
    """The keys in secrets. A bad secret raises, and the message does not contain it.

    >>> from horae_client.receive.signatures import keys_of
    >>> len(keys_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    1
    """
    words = secrets.split() if isinstance(secrets, str) else [word for one in secrets for word in one.split()]
    if not words:
        raise ValueError("no secret: without one anyone could call")
    return [_key(word) for word in words]


def _key(word: str) -> bytes:
    text = word.removeprefix(PREFIX).rstrip("=")
    try:
        key = b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        key = b""
    if not word.startswith(PREFIX) or len(key) < 16:
        raise ValueError(f"a signing secret is {PREFIX} and base64")
    return key
