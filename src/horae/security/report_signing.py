"""Signs reports with the signing key of the deployment, so that a changed report is found."""

import base64
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from horae.security.signing_keys import SigningKey

ALGORITHM: Final = "Ed25519"


class Signature(msgspec.Struct, frozen=True):
    """A signature in base64, with the public half that verifies it as `horae keyring show` writes it."""

    algorithm: str
    key: str
    public_key: str
    value: str


def sign(content: bytes, key: SigningKey) -> Signature:
    """Sign bytes."""
    return Signature(ALGORITHM, key.id, key.public.hex(), base64.b64encode(key.sign(content)).decode())


def is_valid(content: bytes, signature: Signature) -> bool:
    """Whether the holder of the public key signed these bytes. Whose key it is, the caller must know."""
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.public_key))
        public.verify(base64.b64decode(signature.value, validate=True), content)
    except (ValueError, InvalidSignature):
        return False
    return signature.algorithm == ALGORITHM
