"""What seals and opens the values of tenants, as everybody above sees it."""

from typing import Any
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid, KeysUnavailable
from horae.domain.sealed import MARK, Sealed, Spot, read
from horae.security.envelopes import DataKey, version_of


class Sealing:
    """Without keys: values are stored as they are, and what is sealed already stays closed."""

    def known(self, tenant_id: UUID, version: int | None = None) -> DataKey | None:
        """A key that is at hand now; the newest where no version is named."""
        return None

    async def key(self, tenant_id: UUID) -> DataKey | None:
        """What a tenant's values are sealed with; None where they stay in clear."""
        return None

    async def warm(self, tenant_id: UUID) -> None:
        """Have at hand what opening will need, where that is not open to doubt; outside of any transaction."""

    async def learn(self, tenant_id: UUID, version: int) -> DataKey:
        """One version of a tenant's key, at hand from now on."""
        raise KeysUnavailable("this is sealed, and this process was given no key (HORAE_KEYRING or HORAE_TRANSIT)")

    async def make(self, tenant_id: UUID, version: int) -> str | None:
        """A new key for a tenant, wrapped; it counts once it is written. None where none is needed."""
        return None

    def forget(self, tenant_id: UUID) -> None:
        """After a change made here: ask again."""

    async def open(self, tenant_id: UUID, spot: Spot, value: Any) -> Any:
        """A value out of a row, opened where it is sealed."""
        if not isinstance(value, Sealed):
            return value
        return (await self.learn(tenant_id, version_of(value))).open(spot, value)

    def key_to(self, tenant_id: UUID, value: Sealed) -> DataKey | None:
        """What opens a value, if it is at hand: nearly always the newest."""
        newest = self.known(tenant_id)
        if newest is not None and newest.sealed(value):
            return newest
        return self.known(tenant_id, version_of(value))

    def opened(self, tenant_id: UUID, spot: Spot, value: Any) -> Any:
        """The same with what is at hand; raises `KeysUnavailable` where its key was never learnt."""
        if not isinstance(value, Sealed):
            return value
        key = self.key_to(tenant_id, value)
        if key is None:
            raise KeysUnavailable("the key of a sealed value is not at hand")
        return key.open(spot, value)


class Missing(Sealing):
    """Keys are wanted and none were given: nothing is stored that should have been sealed."""

    async def key(self, tenant_id: UUID) -> DataKey | None:
        """There is none."""
        await self.learn(tenant_id, 1)
        raise AssertionError("unreachable")


def seal(key: DataKey | None, spot: Spot, value: Any) -> Any:
    """A value as it goes into a row: sealed where there is a key. Nothing, and what is sealed already, stay so."""
    if value is None or value is msgspec.UNSET or isinstance(value, Sealed):
        return value
    if key is not None:
        return key.seal(spot, value)
    if isinstance(read(value), Sealed):
        raise Invalid(f"an object whose only key is {MARK!r} cannot be stored: it would be taken for a sealed value")
    return value
