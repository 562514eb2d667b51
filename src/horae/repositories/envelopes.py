"""The data keys of tenants in this process: read when needed, unwrapped once, kept in a bounded cache.

All wrapped keys of a tenant are read together, so that a value under an older key needs no second read. The home cell
is asked first; when it is down, the copy in any other cell is used.

A caller waits for a provider of key-encryption keys for a bounded time, and holds no lock meanwhile. So a provider that
does not answer delays only the values whose keys are not in memory.
"""

import asyncio
import copy
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.errors import KeysUnavailable
from horae.domain.ids import shard_in
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.security.envelopes import DataKey
from horae.security.keks import Keks, provider_of
from horae.security.key_calls import KeyCalls
from horae.security.payload_cipher import PayloadCipher
from horae.store.connections.held_connections import KeyNotLoaded, in_repeatable
from horae.store.encryption import data_keys
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.row_level_security import Behalf, restrict
from horae.store.tx import CUT, GONE

MOST_TENANTS: Final = 10_000
NEWEST_KEY_REMEMBERED_S: Final = 5.0
"""Seconds after which a tenant's newest data key is read again."""
UNAVAILABLE_KEY_PAUSE_S: Final = 1.0
"""Seconds for which a key that was unavailable is not requested again."""
MOST_FAILED: Final = 16
STRIPES: Final = 64


class _TenantKeys:
    """The data keys of one tenant that are known."""

    def __init__(self) -> None:
        self.wrapped: dict[int, str] = {}
        self.keys: dict[int, DataKey] = {}
        self.newest: DataKey | None = None
        self.read_at = -NEWEST_KEY_REMEMBERED_S
        self._failed: OrderedDict[int, float] = OrderedDict()

    def keep(self, key: DataKey) -> None:
        """Remember an unwrapped key."""
        self._failed.pop(key.version, None)
        self.keys[key.version] = key
        if self.newest is None or key.version > self.newest.version:
            self.newest = key

    def fail(self, version: int) -> None:
        """Remember that a version was unavailable just now."""
        self._failed[version] = boottime()
        if len(self._failed) > MOST_FAILED:
            self._failed.popitem(last=False)

    def check(self, version: int) -> None:
        """Raise if this version was unavailable a moment ago."""
        if boottime() - self._failed.get(version, -UNAVAILABLE_KEY_PAUSE_S) < UNAVAILABLE_KEY_PAUSE_S:
            raise KeysUnavailable("the tenant's data key could not be had a moment ago")


class Envelopes(PayloadCipher):
    """Encrypts and decrypts for every tenant that this process serves."""

    def __init__(self, store: StoreProtocol, keks: Keks) -> None:
        self._store = store
        self.keks = keks
        self._known: OrderedDict[UUID, _TenantKeys] = OrderedDict()
        self._turns = [asyncio.Lock() for _ in range(STRIPES)]
        self._calls: defaultdict[str, KeyCalls] = defaultdict(KeyCalls)
        self._prompt = False

    def promptly(self) -> "Envelopes":
        """The same keys for callers that wait for a provider only a moment: fires of other tenants wait with them."""
        prompt = copy.copy(self)
        prompt._prompt = True
        return prompt

    def key_in_memory(self, tenant_id: UUID, version: int | None = None) -> DataKey | None:
        """A key that is in memory now; the newest if no version is given."""
        bunch = self._known.get(tenant_id)
        if bunch is None:
            return None
        return bunch.newest if version is None else bunch.keys.get(version)

    async def key(self, tenant_id: UUID) -> DataKey:
        """The newest key of a tenant; created if it has none. It lags a rotation by a few seconds at most."""
        bunch = self._bunch(tenant_id)
        if boottime() - bunch.read_at >= NEWEST_KEY_REMEMBERED_S or not bunch.wrapped:
            async with self._turn(tenant_id):
                if boottime() - bunch.read_at >= NEWEST_KEY_REMEMBERED_S or not bunch.wrapped:
                    await self._read(tenant_id, bunch)
            if not bunch.wrapped:
                await self._make(tenant_id, bunch)
        return await self.learn(tenant_id, max(bunch.wrapped))

    async def warm(self, tenant_id: UUID) -> None:
        """Read a tenant's wrapped keys once. If no cell answers, the later decryption raises."""
        bunch = self._bunch(tenant_id)
        if bunch.read_at < 0:
            async with self._turn(tenant_id):
                with suppress(KeysUnavailable):
                    await self._read(tenant_id, bunch)

    async def learn(self, tenant_id: UUID, version: int) -> DataKey:
        """One version of a tenant's data key. Inside a repeatable transaction it must be in memory already."""
        bunch = self._bunch(tenant_id)
        if version not in bunch.keys:
            bunch.check(version)
            if in_repeatable():
                raise KeyNotLoaded(partial(self.learn, tenant_id, version))
            calls, task = await self._begin(tenant_id, version, bunch)
            await calls.wait([task], prompt=self._prompt)
            if not task.done():
                bunch.fail(version)
                raise KeysUnavailable("the key engine has not answered yet")
            task.result()
        return bunch.keys[version]

    async def learn_all(self, wanted: Iterable[tuple[UUID, int]]) -> None:
        """Load several keys into memory, with one wait for all. A key that cannot be loaded raises when it is used."""
        tasks: defaultdict[KeyCalls, list[asyncio.Task[None]]] = defaultdict(list)
        for tenant_id, version in wanted:
            bunch = self._bunch(tenant_id)
            if version not in bunch.keys:
                with suppress(KeysUnavailable):
                    bunch.check(version)
                    calls, task = await self._begin(tenant_id, version, bunch)
                    tasks[calls].append(task)
        for calls, some in tasks.items():
            await calls.wait(some, prompt=self._prompt)

    async def make(self, tenant_id: UUID, version: int) -> str:
        """Create a new wrapped key for a tenant. It is valid once it is written."""
        return await self.keks.make(tenant_id, version)

    def forget(self, tenant_id: UUID) -> None:
        """Drop a tenant's keys from memory, after this process changed them."""
        self._known.pop(tenant_id, None)

    def _bunch(self, tenant_id: UUID) -> _TenantKeys:
        bunch = self._known.get(tenant_id)
        if bunch is None:
            bunch = self._known[tenant_id] = _TenantKeys()
            if len(self._known) > MOST_TENANTS:
                self._known.popitem(last=False)
        return bunch

    def _turn(self, tenant_id: UUID) -> asyncio.Lock:
        return self._turns[tenant_id.int % STRIPES]

    async def _begin(self, tenant_id: UUID, version: int, bunch: _TenantKeys) -> "tuple[KeyCalls, asyncio.Task[None]]":
        """Read the wrapped key if it is not known, and start to unwrap it."""
        try:
            if version not in bunch.wrapped:
                async with self._turn(tenant_id):
                    bunch.check(version)
                    if version not in bunch.wrapped:
                        await self._read(tenant_id, bunch)
            if version not in bunch.wrapped:
                raise KeysUnavailable(f"version {version} of the tenant's data key is not known here")
        except KeysUnavailable:
            bunch.fail(version)
            raise
        calls = self._calls[provider_of(bunch.wrapped[version])]
        unwrap = partial(self._unwrap, tenant_id, version, bunch)
        return calls, calls.start(tenant_id, (bunch, version), unwrap)

    async def _unwrap(self, tenant_id: UUID, version: int, bunch: _TenantKeys) -> None:
        try:
            bunch.keep(await self.keks.unwrap(tenant_id, version, bunch.wrapped[version]))
        except KeysUnavailable:
            bunch.fail(version)
            raise

    async def _read(self, tenant_id: UUID, bunch: _TenantKeys) -> None:
        """Read all versions. If no cell answers, the known versions remain valid."""
        for cell in restrict(self._store, Behalf(tenant_id)).home_first(shard_in(tenant_id)):
            try:
                bunch.wrapped |= await _of_tenant(cell, tenant_id)
            except (*GONE, *CUT):
                continue
            bunch.read_at = boottime()
            if bunch.wrapped:
                return
        if not bunch.wrapped and bunch.read_at < 0:
            raise KeysUnavailable("no cell answers, and the tenant's data key was never read here")

    async def _make(self, tenant_id: UUID, bunch: _TenantKeys) -> None:
        """Create the first key of a tenant. If another process was faster, its key is used."""
        calls = self._calls[self.keks.name]
        making = calls.start(tenant_id, (bunch, "make"), partial(self.make, tenant_id, 1))
        await calls.wait([making], prompt=self._prompt)
        if not making.done():
            raise KeysUnavailable("the key engine has not answered yet")
        wrapped = making.result()
        shard = shard_in(tenant_id)
        async with restrict(self._store, Behalf(tenant_id)).tx(shard) as tx:
            made = await data_keys.create(tx, tenant_id, 1, wrapped)
            bunch.wrapped |= await data_keys.of_tenant(tx, tenant_id)
        if not bunch.wrapped:
            raise KeysUnavailable("the tenant's home shard is moving, and it has no data key yet")
        if made:
            log.info("data_key.created", tenant=tenant_id, version=1)


async def _of_tenant(cell: CellProtocol, tenant_id: UUID) -> dict[int, str]:
    async with cell.statement() as tx:
        return await data_keys.of_tenant(tx, tenant_id)
