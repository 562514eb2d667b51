"""Signed texts that a client sends back unchanged, such as the cursor of a page.

A signature covers the purpose (tenant, route, filter): the text is refused for any other purpose. The text is not
encrypted; it holds nothing that its client has not received anyway.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from hashlib import sha256
from typing import Any, Final

import msgspec

from horae.domain.errors import Invalid

MAC_BYTES: Final = 16
NO_CURSOR: Final = "the cursor is not valid here: send `next` of a page of this list, with the same filters and tenant"
SHORTEST_SECRET: Final = 32
"""Characters of the deployment's secret."""
SAMPLES: Final = ("change", "example", "sample", "secret", "password", "0123456789")
"""Words that occur in sample values, but not in random ones."""


class Signer:
    """Signs and verifies texts under one secret, which all processes of a deployment share."""

    def __init__(self, secret: str) -> None:
        check_secret(secret)
        self._key = sha256(b"seals\0" + secret.encode()).digest()

    def sign(self, purpose: str, value: object) -> str:
        """Return a value as signed, opaque text."""
        body = msgspec.json.encode(value)
        return urlsafe_b64encode(self._mac(purpose, body) + body).rstrip(b"=").decode()

    def verify(self, purpose: str, text: str) -> Any:
        """Verify a text that was signed for the same purpose, and return its value."""
        try:
            raw = urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
        except (NotBase64, ValueError) as error:
            raise Invalid(NO_CURSOR) from error
        if not hmac.compare_digest(raw[:MAC_BYTES], self._mac(purpose, raw[MAC_BYTES:])):
            raise Invalid(NO_CURSOR)
        return msgspec.json.decode(raw[MAC_BYTES:])

    def _mac(self, purpose: str, body: bytes) -> bytes:
        return hmac.digest(self._key, purpose.encode() + b"\0" + body, "sha256")[:MAC_BYTES]


def check_secret(secret: str) -> None:
    """Refuse a secret that can be guessed, or that may come from an example."""
    if len(secret) < SHORTEST_SECRET or len(set(secret)) < 10 or any(word in secret.lower() for word in SAMPLES):
        raise Invalid(
            f"HORAE_API_SECRET must be {SHORTEST_SECRET} random characters or more and no sample value; "
            "`openssl rand -base64 48` makes one"
        )
