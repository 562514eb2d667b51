"""Seals: what we hand out and want back unchanged, such as the cursor of a page.

A seal is bound to what it was made for (tenant, route, filter): anywhere else it does not open. It hides nothing that
its holder has not just been told.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from hashlib import sha256
from typing import Any, Final

import msgspec

from horae.domain.errors import Invalid

MAC: Final = 16
NO_CURSOR: Final = "the cursor is not valid here: send `next` of a page of this list, with the same filters and tenant"
SHORTEST_SECRET: Final = 32
SAMPLES: Final = ("change", "example", "sample", "secret", "password", "0123456789")


class Seals:
    """Makes and opens seals under one secret, which all processes of a deployment share."""

    def __init__(self, secret: str) -> None:
        check_secret(secret)
        self._key = sha256(b"seals\0" + secret.encode()).digest()

    def seal(self, purpose: str, value: object) -> str:
        """A value as opaque text."""
        body = msgspec.json.encode(value)
        return urlsafe_b64encode(self._mac(purpose, body) + body).rstrip(b"=").decode()

    def open(self, purpose: str, text: str) -> Any:
        """The value behind a seal made for the same purpose."""
        try:
            raw = urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
        except (NotBase64, ValueError) as error:
            raise Invalid(NO_CURSOR) from error
        if not hmac.compare_digest(raw[:MAC], self._mac(purpose, raw[MAC:])):
            raise Invalid(NO_CURSOR)
        return msgspec.json.decode(raw[MAC:])

    def _mac(self, purpose: str, body: bytes) -> bytes:
        return hmac.digest(self._key, purpose.encode() + b"\0" + body, "sha256")[:MAC]


def check_secret(secret: str) -> None:
    """Refuse what anybody could guess, or could have read in an example."""
    if len(secret) < SHORTEST_SECRET or len(set(secret)) < 10 or any(word in secret.lower() for word in SAMPLES):
        raise Invalid(
            f"HORAE_API_SECRET must be {SHORTEST_SECRET} random characters or more and no sample value; "
            "`openssl rand -base64 48` makes one"
        )
