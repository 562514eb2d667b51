"""Key-encryption keys (KEKs) wrap data keys, so that a copy of the database alone decrypts nothing.

A wrapped key begins with the name of its provider. The wrapped bytes hold the data key and a digest of its tenant and
version, so a data key that is copied into another tenant's row is refused.
"""

import asyncio
import hmac
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Final, Protocol
from uuid import UUID

from horae.domain.errors import KeysUnavailable, Unopenable
from horae.runtime.telemetry import log
from horae.security.envelopes import DATA_KEY_BYTES, DataKey

OWNER_DIGEST_BYTES: Final = 16
"""Bytes of the digest of tenant and version."""
CALL_TIMEOUT_S: Final = 8.0
"""Seconds that one call of a provider may take. The key engine over HTTP has shorter timeouts of its own."""


class Kek(Protocol):
    """A provider: wraps and unwraps a few bytes under a key that never leaves it."""

    name: str
    """The first word of the keys that it wraps."""

    async def current(self) -> str:
        """Return the prefix of every text that the current key wraps."""

    async def wrap(self, clear: bytes) -> str:
        """Wrap bytes under the current key."""

    async def unwrap(self, wrapped: str) -> bytes:
        """Unwrap a text. Raises `KeysUnavailable` where a later try may work, `Unopenable` where none will."""

    async def rewrap(self, wrapped: str) -> str:
        """Wrap the same bytes under the current key."""


class Keks:
    """Several providers: the first one wraps, all unwrap. So one can replace another while both are configured."""

    def __init__(self, providers: Sequence[Kek]) -> None:
        assert providers, "without a provider nothing can be wrapped"
        self._of = {provider.name: provider for provider in providers}
        self._first = providers[0]

    @property
    def name(self) -> str:
        """The name of the provider that wraps."""
        return self._first.name

    async def make(self, tenant_id: UUID, version: int) -> str:
        """Create a data key and return it wrapped."""
        return await self._wrap(os.urandom(DATA_KEY_BYTES) + _owner(tenant_id, version))

    async def unwrap(self, tenant_id: UUID, version: int, wrapped: str) -> DataKey:
        """Unwrap the data key in a row of this tenant and version; raises `Unopenable` where it belongs to another."""
        clear = await self._unwrap(wrapped)
        if len(clear) != DATA_KEY_BYTES + OWNER_DIGEST_BYTES or not hmac.compare_digest(
            clear[DATA_KEY_BYTES:], _owner(tenant_id, version)
        ):
            raise Unopenable("a data key belongs to another tenant or version than its row says")
        return DataKey(tenant_id, version, clear[:DATA_KEY_BYTES])

    async def current(self) -> str:
        """Return the prefix of wrapped data keys that are up to date."""
        async with _translated_errors(self._first):
            return f"{self._first.name}:{await self._first.current()}"

    async def rewrap(self, wrapped: str) -> str:
        """Wrap the same data key under the current key of the first provider."""
        provider, _, text = wrapped.partition(":")
        if provider == self._first.name:
            async with _translated_errors(self._first):
                return f"{provider}:{await self._first.rewrap(text)}"
        return await self._wrap(await self._unwrap(wrapped))

    async def _wrap(self, clear: bytes) -> str:
        async with _translated_errors(self._first):
            return f"{self._first.name}:{await self._first.wrap(clear)}"

    async def _unwrap(self, wrapped: str) -> bytes:
        name, _, text = wrapped.partition(":")
        provider = self._of.get(name)
        if provider is None:
            raise KeysUnavailable(f"a data key was wrapped by {name!r}, and this process has no such key")
        async with _translated_errors(provider):
            return await provider.unwrap(text)


def provider_of(wrapped: str) -> str:
    """Return the name of the provider that wrapped a data key."""
    return wrapped.partition(":")[0]


@asynccontextmanager
async def _translated_errors(provider: Kek) -> AsyncIterator[None]:
    """Bound the time of a call, and turn every unexpected error of a provider into `KeysUnavailable`.

    Callers handle that error.
    """
    try:
        async with asyncio.timeout(CALL_TIMEOUT_S):
            yield
    except (KeysUnavailable, Unopenable):
        raise
    except TimeoutError as error:
        raise KeysUnavailable(f"the keys of {provider.name!r} cannot be had now: no answer in time") from error
    except Exception as error:
        log.exception("keys.provider_failed", provider=provider.name)
        raise KeysUnavailable(f"the keys of {provider.name!r} cannot be had now") from error


def _owner(tenant_id: UUID, version: int) -> bytes:
    return sha256(b"horae data key\0" + tenant_id.bytes + version.to_bytes(4, "big")).digest()[:OWNER_DIGEST_BYTES]
