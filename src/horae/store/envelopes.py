"""The data keys of tenants in this process: read when they are needed, unwrapped once, remembered within bounds.

All wrapped keys of a tenant are read together, so that what was sealed with an old one needs no second look. The home
is asked first; when it is down any other cell's copies will do.
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.errors import KeysUnavailable
from horae.domain.ids import shard_in
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.security.envelopes import DataKey
from horae.security.keks import Keks
from horae.security.sealing import Sealing
from horae.store import data_keys
from horae.store.cells import Cell, Store
from horae.store.holding import KeyNotAtHand, in_repeatable
from horae.store.tx import CUT, GONE
from horae.store.walls import Behalf, behind

MOST_TENANTS: Final = 10_000
REMEMBERED: Final = 5.0
"""Seconds after which a tenant's newest key is asked for again."""
PATIENCE: Final = 1.0
"""Seconds for which keys that could not be had are not asked for again."""
MOST_FAILED: Final = 16
STRIPES: Final = 64


class _Bunch:
    """What is known of one tenant's keys."""

    def __init__(self) -> None:
        self.wrapped: dict[int, str] = {}
        self.keys: dict[int, DataKey] = {}
        self.newest: DataKey | None = None
        self.read_at = -REMEMBERED
        self._failed: OrderedDict[int, float] = OrderedDict()

    def keep(self, key: DataKey) -> None:
        """Have a key at hand from now on."""
        self._failed.pop(key.version, None)
        self.keys[key.version] = key
        if self.newest is None or key.version > self.newest.version:
            self.newest = key

    def fail(self, version: int) -> None:
        """A version could not be had just now."""
        self._failed[version] = boottime()
        if len(self._failed) > MOST_FAILED:
            self._failed.popitem(last=False)

    def check(self, version: int) -> None:
        """Refuse to ask for a version that could not be had a moment ago."""
        if boottime() - self._failed.get(version, -PATIENCE) < PATIENCE:
            raise KeysUnavailable("the tenant's data key could not be had a moment ago")


class Envelopes(Sealing):
    """Seals and opens for every tenant that this process meets."""

    def __init__(self, store: Store, keks: Keks) -> None:
        self._store = store
        self.keks = keks
        self._known: OrderedDict[UUID, _Bunch] = OrderedDict()
        self._turns = [asyncio.Lock() for _ in range(STRIPES)]

    def known(self, tenant_id: UUID, version: int | None = None) -> DataKey | None:
        """A key that is at hand now; the newest where no version is named."""
        bunch = self._known.get(tenant_id)
        if bunch is None:
            return None
        return bunch.newest if version is None else bunch.keys.get(version)

    async def key(self, tenant_id: UUID) -> DataKey:
        """The newest key of a tenant, made where it has none. It is at most some seconds behind a rotation."""
        bunch = self._bunch(tenant_id)
        if boottime() - bunch.read_at >= REMEMBERED or not bunch.wrapped:
            async with self._turn(tenant_id):
                if boottime() - bunch.read_at >= REMEMBERED or not bunch.wrapped:
                    await self._read(tenant_id, bunch)
                if not bunch.wrapped:
                    await self._make(tenant_id, bunch)
        return await self.learn(tenant_id, max(bunch.wrapped))

    async def warm(self, tenant_id: UUID) -> None:
        """Read a tenant's wrapped keys, once; where no cell answers, whoever opens will hear of it."""
        bunch = self._bunch(tenant_id)
        if bunch.read_at < 0:
            async with self._turn(tenant_id):
                with suppress(KeysUnavailable):
                    await self._read(tenant_id, bunch)

    async def learn(self, tenant_id: UUID, version: int) -> DataKey:
        """One version of a tenant's key. Inside a transaction that can be repeated it must be at hand."""
        bunch = self._bunch(tenant_id)
        if version not in bunch.keys:
            bunch.check(version)
            if in_repeatable():
                raise KeyNotAtHand(partial(self.learn, tenant_id, version))
            async with self._turn(tenant_id):
                await self._learn(tenant_id, version, bunch)
        return bunch.keys[version]

    async def make(self, tenant_id: UUID, version: int) -> str:
        """A new key for a tenant, wrapped; it counts once it is written."""
        return await self.keks.make(tenant_id, version)

    def forget(self, tenant_id: UUID) -> None:
        """After a change made here: ask again."""
        self._known.pop(tenant_id, None)

    def _bunch(self, tenant_id: UUID) -> _Bunch:
        bunch = self._known.get(tenant_id)
        if bunch is None:
            bunch = self._known[tenant_id] = _Bunch()
            if len(self._known) > MOST_TENANTS:
                self._known.popitem(last=False)
        return bunch

    def _turn(self, tenant_id: UUID) -> asyncio.Lock:
        return self._turns[tenant_id.int % STRIPES]

    async def _learn(self, tenant_id: UUID, version: int, bunch: _Bunch) -> None:
        if version in bunch.keys:
            return
        bunch.check(version)
        try:
            if version not in bunch.wrapped:
                await self._read(tenant_id, bunch)
            if version not in bunch.wrapped:
                raise KeysUnavailable(f"version {version} of the tenant's data key is not known here")
            bunch.keep(await self.keks.unwrap(tenant_id, version, bunch.wrapped[version]))
        except KeysUnavailable:
            bunch.fail(version)
            raise

    async def _read(self, tenant_id: UUID, bunch: _Bunch) -> None:
        """Ask for all versions; where no cell answers, what is known goes on to be good."""
        for cell in behind(self._store, Behalf(tenant_id)).home_first(shard_in(tenant_id)):
            try:
                bunch.wrapped |= await _of_tenant(cell, tenant_id)
            except (*GONE, *CUT):
                continue
            bunch.read_at = boottime()
            if bunch.wrapped:
                return
        if not bunch.wrapped and bunch.read_at < 0:
            raise KeysUnavailable("no cell answers, and the tenant's data key was never read here")

    async def _make(self, tenant_id: UUID, bunch: _Bunch) -> None:
        """The first key of a tenant. Whoever was first with it, theirs is the one."""
        wrapped = await self.make(tenant_id, 1)
        shard = shard_in(tenant_id)
        async with behind(self._store, Behalf(tenant_id)).tx(shard) as tx:
            made = await data_keys.create(tx, tenant_id, 1, wrapped)
            bunch.wrapped |= await data_keys.of_tenant(tx, tenant_id)
        if not bunch.wrapped:
            raise KeysUnavailable("the tenant's home shard is moving, and it has no data key yet")
        if made:
            log.info("data_key.created", tenant=str(tenant_id), version=1)


async def _of_tenant(cell: Cell, tenant_id: UUID) -> dict[int, str]:
    async with cell.statement() as tx:
        return await data_keys.of_tenant(tx, tenant_id)
