"""API keys as text: `horae_<key id>_<secret>_<check>`.

The secret has 260 bits and is displayed once. Only its SHA-256 is stored, which is safe for a secret that cannot be
guessed. The check (CRC-32) reveals a mistyped key without a database, and helps scanners of repositories.
"""

import hmac
import secrets
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID
from zlib import crc32

from horae.domain.errors import NotFound, Unauthenticated
from horae.domain.ids import ALPHABET, Prefix, encode_id, private

PREFIX: Final = "horae"
LONGEST_CREDENTIAL: Final = 200
"""Characters of a key or a session in a request. None has so many; a longer text is refused before it is looked at."""
SECRET_LENGTH: Final = 52
"""Characters of a secret: 5 bits each, 260 bits in total."""


class Credential(NamedTuple):
    """An API key or a session as it is sent: its id, and its secret."""

    key_id: UUID
    secret: str

    def text(self) -> str:
        """Return the text of an API key, which is displayed once."""
        head = f"{PREFIX}_{encode_id(self.key_id)}_{self.secret}"
        return f"{head}_{_check(head)}"

    def digest(self) -> bytes:
        """Return the digest that is stored."""
        return sha256(self.secret.encode()).digest()

    def matches(self, stored: bytes) -> bool:
        """Whether the secret belongs to a stored digest; takes the same time in both cases."""
        return hmac.compare_digest(self.digest(), stored)


def new_credential(key_id: UUID) -> Credential:
    """Create a credential with a random secret."""
    return Credential(key_id, "".join(secrets.choice(ALPHABET) for _ in range(SECRET_LENGTH)))


def read(text: str) -> Credential:
    """Read a credential from its text. Every malformed text gets the same answer."""
    head, _, check = text.rpartition("_")
    prefix, _, rest = head.partition("_")
    key, _, secret = rest.partition("_")
    if prefix != PREFIX or len(secret) != SECRET_LENGTH or not text.isascii() or _check(head) != check:
        raise Unauthenticated("unknown, revoked or malformed API key")
    try:
        return Credential(private(Prefix.KEY, f"{Prefix.KEY}_{key}"), secret)
    except NotFound as error:
        raise Unauthenticated("unknown, revoked or malformed API key") from error


def _check(head: str) -> str:
    return f"{crc32(head.encode()):08x}"
