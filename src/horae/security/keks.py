"""Key-encryption keys: what wraps data keys, so that a database alone opens nothing.

A wrapped key begins with the name of the provider that wrapped it. Inside, a data key travels with a digest of whose
it is and which version: put into another tenant's row it is refused.
"""

import hmac
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Final, Protocol
from uuid import UUID

from horae.domain.errors import KeysUnavailable, Unopenable
from horae.runtime.telemetry import log
from horae.security.envelopes import SECRET, DataKey

OWNER: Final = 16


class Kek(Protocol):
    """Wraps and unwraps a few bytes under a key that never leaves it."""

    name: str
    """The word that its wrapped keys begin with."""

    async def current(self) -> str:
        """What everything begins with that the current key wraps."""

    async def wrap(self, clear: bytes) -> str:
        """Wrapped under the current key."""

    async def unwrap(self, wrapped: str) -> bytes:
        """What was wrapped. Raises `KeysUnavailable` for now, `Unopenable` for ever."""

    async def rewrap(self, wrapped: str) -> str:
        """The same under the current key."""


class Keks:
    """Several providers: the first wraps, all unwrap. So one can take over from another while both are there."""

    def __init__(self, providers: Sequence[Kek]) -> None:
        assert providers, "without a provider nothing can be wrapped"
        self._of = {provider.name: provider for provider in providers}
        self._first = providers[0]

    async def make(self, tenant_id: UUID, version: int) -> str:
        """A new data key, wrapped."""
        return await self._wrap(os.urandom(SECRET) + _owner(tenant_id, version))

    async def unwrap(self, tenant_id: UUID, version: int, wrapped: str) -> DataKey:
        """The data key in a row that says it is this tenant's."""
        clear = await self._unwrap(wrapped)
        if len(clear) != SECRET + OWNER or not hmac.compare_digest(clear[SECRET:], _owner(tenant_id, version)):
            raise Unopenable("a data key belongs to another tenant or version than its row says")
        return DataKey(tenant_id, version, clear[:SECRET])

    async def current(self) -> str:
        """What every wrapped data key begins with that need not be wrapped anew."""
        with _asking(self._first):
            return f"{self._first.name}:{await self._first.current()}"

    async def rewrap(self, wrapped: str) -> str:
        """The same data key under the current key."""
        provider, _, text = wrapped.partition(":")
        if provider == self._first.name:
            with _asking(self._first):
                return f"{provider}:{await self._first.rewrap(text)}"
        return await self._wrap(await self._unwrap(wrapped))

    async def _wrap(self, clear: bytes) -> str:
        with _asking(self._first):
            return f"{self._first.name}:{await self._first.wrap(clear)}"

    async def _unwrap(self, wrapped: str) -> bytes:
        name, _, text = wrapped.partition(":")
        provider = self._of.get(name)
        if provider is None:
            raise KeysUnavailable(f"a data key was wrapped by {name!r}, and this process was not told of it")
        with _asking(provider):
            return await provider.unwrap(text)


@contextmanager
def _asking(provider: Kek) -> Iterator[None]:
    """Turn whatever else a provider fails with into `KeysUnavailable`: callers know what to do about that."""
    try:
        yield
    except (KeysUnavailable, Unopenable):
        raise
    except Exception as error:
        log.exception("keys.failed", provider=provider.name)
        raise KeysUnavailable(f"the keys of {provider.name!r} cannot be had now") from error


def _owner(tenant_id: UUID, version: int) -> bytes:
    return sha256(b"horae data key\0" + tenant_id.bytes + version.to_bytes(4, "big")).digest()[:OWNER]
