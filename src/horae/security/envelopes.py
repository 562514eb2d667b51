"""Data keys: one per tenant and version. They encrypt the tenant's payloads and secrets with AES-256-GCM.

1. A process draws a salt, and derives a key of its own from the data key and the salt. So no two processes share a
   nonce space, and none comes near the number of messages that random nonces allow.
2. The text holds format, key version, salt, nonce, ciphertext and tag.
3. Tenant, owner, name, field and version are authenticated as associated data. They are not part of the text.
"""

import hmac
import os
from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64
from typing import Any, Final
from uuid import UUID

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from horae.domain.encryption.encrypted_values import EncryptedValue, Spot
from horae.domain.errors import Unopenable
from horae.runtime.bounded_dict import BoundedDict

FORM: Final = "1"
"""The version of the text format."""
DATA_KEY_BYTES: Final = 32
SALT_BYTES: Final = 16
NONCE_BYTES: Final = 12
TAG_BYTES: Final = 16
MOST_WITH_ONE_SALT: Final = 2**30
"""Values that are encrypted under one salt; then a new one is drawn."""
MOST_DERIVED: Final = 256
"""Derived keys that are kept in memory per data key."""
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class DataKey:
    """One version of a tenant's data key. Its `repr` holds no secret."""

    def __init__(self, tenant_id: UUID, version: int, secret: bytes) -> None:
        assert len(secret) == DATA_KEY_BYTES, "a data key has 256 bits"
        self.tenant_id = tenant_id
        self.version = version
        self._secret = secret
        self._head = f"{FORM}.{version}."
        self._bound = b"horae" + tenant_id.bytes + version.to_bytes(4, "big")
        self._derived = BoundedDict[bytes, AESGCM](MOST_DERIVED)
        self._salt(os.urandom(SALT_BYTES))

    def __repr__(self) -> str:
        return f"DataKey({self.tenant_id}, {self.version})"

    def encrypt(self, spot: Spot, value: Any) -> EncryptedValue:
        """Encrypt a value, bound to its spot."""
        if self._left <= 0:
            self._salt(os.urandom(SALT_BYTES))
        self._left -= 1
        nonce = os.urandom(NONCE_BYTES)
        text = self._own.encrypt(nonce, _encode(value), self._about(spot))
        return EncryptedValue(self._head + b2a_base64(self._prefix + nonce + text, newline=False).decode())

    def has_encrypted(self, value: EncryptedValue) -> bool:
        """Whether the text names this key version."""
        return value.text.startswith(self._head)

    def decrypt(self, spot: Spot, encrypted: EncryptedValue) -> Any:
        """Decrypt a value. Raises `Unopenable` if the text was changed, or belongs to another spot."""
        if not self.has_encrypted(encrypted):
            raise Unopenable("an encrypted value was encrypted with another key than it says")
        try:
            raw = a2b_base64(encrypted.text[len(self._head) :], strict_mode=True)
            if len(raw) < SALT_BYTES + NONCE_BYTES + TAG_BYTES:
                raise Unopenable("an encrypted value is too short to be one")
            key = self._derive(raw[:SALT_BYTES])
            clear = key.decrypt(
                raw[SALT_BYTES : SALT_BYTES + NONCE_BYTES], raw[SALT_BYTES + NONCE_BYTES :], self._about(spot)
            )
        except (NotBase64, ValueError, InvalidTag) as error:
            raise Unopenable("an encrypted value was changed or moved") from error
        return _decode(clear)

    def _about(self, spot: Spot) -> bytes:
        """Return the associated data. The length before the field keeps field and name apart."""
        field = spot.field.encode()
        return b"%b%b%c%b%b" % (self._bound, spot.owner_id.bytes, len(field), field, spot.name.encode())

    def _salt(self, salt: bytes) -> None:
        self._prefix, self._own, self._left = salt, self._derive(salt), MOST_WITH_ONE_SALT

    def _derive(self, salt: bytes) -> AESGCM:
        kept = self._derived.get(salt)
        if kept is None:
            kept = self._derived[salt] = AESGCM(hmac.digest(self._secret, b"horae data\0" + salt, "sha256"))
        return kept


def version_of(encrypted: EncryptedValue) -> int:
    """Return the key version that a text names."""
    _, _, rest = encrypted.text.partition(".")
    version = rest.partition(".")[0]
    if not version.isdecimal() or len(version) > 9:
        raise Unopenable("an encrypted value does not say which key encrypted it")
    return int(version)
