"""Data keys: one a tenant and version, with which its payloads and secrets are sealed (AES-256-GCM).

A process that seals draws a salt and derives its own key from the data key, so that no two processes ever share a
nonce space and none comes near the number of messages that random nonces allow. The salt travels with the text.
What a text is bound to (tenant, owner, name, field, version) is authenticated, not stored.
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

from horae.domain.errors import Unopenable
from horae.domain.sealed import Sealed, Spot

FORM: Final = "1"
SECRET: Final = 32
SALT, NONCE, TAG = 16, 12, 16
MOST_WITH_ONE_SALT: Final = 2**30
MOST_DERIVED: Final = 256
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class DataKey:
    """One version of a tenant's key. It shows itself to nobody."""

    def __init__(self, tenant_id: UUID, version: int, secret: bytes) -> None:
        assert len(secret) == SECRET, "a data key has 256 bits"
        self.tenant_id = tenant_id
        self.version = version
        self._secret = secret
        self._head = f"{FORM}.{version}."
        self._bound = b"horae" + tenant_id.bytes + version.to_bytes(4, "big")
        self._derived: dict[bytes, AESGCM] = {}
        self._salt(os.urandom(SALT))

    def __repr__(self) -> str:
        return f"DataKey({self.tenant_id}, {self.version})"

    def seal(self, spot: Spot, value: Any) -> Sealed:
        """A value as only this key opens it again, at this spot."""
        if self._left <= 0:
            self._salt(os.urandom(SALT))
        self._left -= 1
        nonce = os.urandom(NONCE)
        text = self._own.encrypt(nonce, _encode(value), self._about(spot))
        return Sealed(self._head + b2a_base64(self._prefix + nonce + text, newline=False).decode())

    def sealed(self, value: Sealed) -> bool:
        """Whether a value says that it was sealed with this version."""
        return value.text.startswith(self._head)

    def open(self, spot: Spot, sealed: Sealed) -> Any:
        """The value again. Raises `Unopenable` where one bit, or the spot, is not what it was."""
        if not self.sealed(sealed):
            raise Unopenable("a sealed value was sealed with another key than its own says")
        try:
            raw = a2b_base64(sealed.text[len(self._head) :], strict_mode=True)
            if len(raw) < SALT + NONCE + TAG:
                raise Unopenable("a sealed value is too short to be one")
            key = self._derive(raw[:SALT])
            clear = key.decrypt(raw[SALT : SALT + NONCE], raw[SALT + NONCE :], self._about(spot))
        except (NotBase64, ValueError, InvalidTag) as error:
            raise Unopenable("a sealed value is not as it was sealed, or not where it was") from error
        return _decode(clear)

    def _about(self, spot: Spot) -> bytes:
        field = spot.field.encode()
        return b"%b%b%c%b%b" % (self._bound, spot.owner_id.bytes, len(field), field, spot.name.encode())

    def _salt(self, salt: bytes) -> None:
        self._prefix, self._own, self._left = salt, self._derive(salt), MOST_WITH_ONE_SALT

    def _derive(self, salt: bytes) -> AESGCM:
        kept = self._derived.get(salt)
        if kept is None:
            if len(self._derived) >= MOST_DERIVED:
                del self._derived[next(iter(self._derived))]
            kept = self._derived[salt] = AESGCM(hmac.digest(self._secret, b"horae data\0" + salt, "sha256"))
        return kept


def version_of(sealed: Sealed) -> int:
    """Which version of its tenant's key a value was sealed with."""
    _, _, rest = sealed.text.partition(".")
    version = rest.partition(".")[0]
    if not version.isdecimal() or len(version) > 9:
        raise Unopenable("a sealed value does not say which key it was sealed with")
    return int(version)
