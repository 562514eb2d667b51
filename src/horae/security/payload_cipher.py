"""Encrypts and decrypts the values of tenants: the interface for `store` and `service`."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import msgspec

from horae.domain.encryption.encrypted_values import MARK, EncryptedValue, Spot, read
from horae.domain.errors import Invalid, KeysUnavailable
from horae.security.envelopes import DataKey, version_of


class PayloadCipher:
    """The cipher of a process without keys: values are stored in clear, and encrypted values cannot be decrypted."""

    def key_in_memory(self, tenant_id: UUID, version: int | None = None) -> DataKey | None:
        """Return a key that is in memory; the newest where no version is named."""
        return None

    async def key(self, tenant_id: UUID) -> DataKey | None:
        """Return the key that encrypts a tenant's values; None where they are stored in clear."""
        return None

    async def warm(self, tenant_id: UUID) -> None:
        """Read the tenant's wrapped keys in advance, outside of any transaction. It may fail silently."""

    async def learn(self, tenant_id: UUID, version: int) -> DataKey:
        """Load one version of a tenant's key into memory."""
        raise KeysUnavailable("this is encrypted, and this process was given no key (HORAE_KEYRING or HORAE_TRANSIT)")

    async def learn_all(self, wanted: Iterable[tuple[UUID, int]]) -> None:
        """Load keys of tenants by version, in advance. A key that cannot be loaded raises when it is used."""

    def promptly(self) -> "PayloadCipher":
        """Return this cipher for callers that must not wait long for a provider of keys, such as fires."""
        return self

    async def make(self, tenant_id: UUID, version: int) -> str | None:
        """Create a wrapped key for a tenant, which is valid once it is written; None where none is needed."""
        return None

    def forget(self, tenant_id: UUID) -> None:
        """Drop the cached keys of a tenant after this process changed them."""

    async def decrypt(self, tenant_id: UUID, spot: Spot, value: Any) -> Any:
        """Return the value of a row, decrypted where it is encrypted."""
        if not isinstance(value, EncryptedValue):
            return value
        return (await self.learn(tenant_id, version_of(value))).decrypt(spot, value)

    def key_to(self, tenant_id: UUID, value: EncryptedValue) -> DataKey | None:
        """Return the key of a value if it is in memory: nearly always the newest."""
        newest = self.key_in_memory(tenant_id)
        if newest is not None and newest.has_encrypted(value):
            return newest
        return self.key_in_memory(tenant_id, version_of(value))

    def decrypt_in_memory(self, tenant_id: UUID, spot: Spot, value: Any) -> Any:
        """Decrypt with the keys in memory; raises `KeysUnavailable` where the key of the value was never loaded."""
        if not isinstance(value, EncryptedValue):
            return value
        key = self.key_to(tenant_id, value)
        if key is None:
            raise KeysUnavailable("the key of an encrypted value is not available")
        return key.decrypt(spot, value)


class MissingKeys(PayloadCipher):
    """The cipher of a deployment that requires keys and has none: it stores no value in clear."""

    async def key(self, tenant_id: UUID) -> DataKey | None:
        """Raise `KeysUnavailable`."""
        await self.learn(tenant_id, 1)
        raise AssertionError("unreachable")


def encrypt_value(key: DataKey | None, spot: Spot, value: Any) -> Any:
    """Return a value as it is stored: encrypted where there is a key. None and encrypted values stay as they are."""
    if value is None or value is msgspec.UNSET or isinstance(value, EncryptedValue):
        return value
    if key is not None:
        return key.encrypt(spot, value)
    if isinstance(read(value), EncryptedValue):
        raise Invalid(
            f"an object whose only key is {MARK!r} cannot be stored: it would be taken for an encrypted value"
        )
    return value
