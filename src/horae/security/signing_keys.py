"""The signing keys of a deployment: Ed25519. Whoever has the public half can tell who signed, and cannot sign."""

import base64
import os
from hashlib import sha256
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from horae.domain.errors import Unopenable

SEED_BYTES: Final = 32
ID_CHARACTERS: Final = 16
"""Characters of the SHA-256 of the public half that name a key."""


class SigningKey:
    """An Ed25519 key with both halves. Its `repr` holds no secret."""

    def __init__(self, seed: bytes) -> None:
        if len(seed) != SEED_BYTES:
            raise Unopenable("a signing key has 256 bits, and this value has not")
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.id = key_id(self.public)

    def __repr__(self) -> str:
        return f"SigningKey({self.id})"

    def sign(self, content: bytes) -> bytes:
        """Return the signature of bytes."""
        return self._private.sign(content)


def key_id(public: bytes) -> str:
    """Return the name of a key: the beginning of the SHA-256 of its public half."""
    return sha256(public).hexdigest()[:ID_CHARACTERS]


def new_seed() -> str:
    """Return a new private half as text."""
    return base64.b64encode(os.urandom(SEED_BYTES)).decode()


def key_of(seed: str) -> SigningKey:
    """Return the key of a private half."""
    try:
        return SigningKey(base64.b64decode(seed, validate=True))
    except ValueError as error:
        raise Unopenable("a signing key is not readable") from error
