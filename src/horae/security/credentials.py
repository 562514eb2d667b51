"""API keys as text: `horae_<key id>_<secret>_<check>`.

The secret has 256 bits and is shown once; only its SHA-256 is stored, which is safe for a secret nobody can guess. The
check (CRC-32) tells a mistyped key, and a scanner of repositories, without asking a database.
"""

import hmac
import secrets
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID
from zlib import crc32

from horae.domain.errors import NotFound, Unauthenticated
from horae.domain.ids import ALPHABET, Prefix, letters, private

PREFIX: Final = "horae"
SECRET_LENGTH: Final = 52  # 5 bits a letter: 260 bits


class Credential(NamedTuple):
    """A key as it was shown: which one, and what proves it."""

    key_id: UUID
    secret: str

    def text(self) -> str:
        """The form that is shown once and sent ever after."""
        head = f"{PREFIX}_{letters(self.key_id)}_{self.secret}"
        return f"{head}_{_check(head)}"

    def digest(self) -> bytes:
        """What is stored."""
        return sha256(self.secret.encode()).digest()

    def proves(self, stored: bytes) -> bool:
        """Whether it is the one behind a stored digest; takes the same time either way."""
        return hmac.compare_digest(self.digest(), stored)


def new(key_id: UUID) -> Credential:
    """A credential that nobody has seen yet."""
    return Credential(key_id, "".join(secrets.choice(ALPHABET) for _ in range(SECRET_LENGTH)))


def read(text: str) -> Credential:
    """A credential out of what was sent. Every way of being wrong is answered the same."""
    head, _, check = text.rpartition("_")
    prefix, _, rest = head.partition("_")
    key, _, secret = rest.partition("_")
    if prefix != PREFIX or len(secret) != SECRET_LENGTH or not text.isascii() or _check(head) != check:
        raise Unauthenticated("this is not an API key of ours")
    try:
        return Credential(private(Prefix.KEY, f"{Prefix.KEY}_{key}"), secret)
    except NotFound as error:
        raise Unauthenticated("this is not an API key of ours") from error


def _check(head: str) -> str:
    return f"{crc32(head.encode()):08x}"
