"""Key rotation: wraps data keys again, and encrypts live payloads and secrets again with the newest data key.

Ended instances keep the data key version that they were encrypted with, and that version stays. The work may stop at
any point and may run twice: a row changes only if it is still as it was read.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from horae.domain.encryption.encrypted_values import payload_of, read, secret_of
from horae.domain.errors import KeysUnavailable, NewerRelease, Unavailable, Unopenable
from horae.repositories.envelopes import Envelopes
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import log
from horae.security.envelopes import DataKey, version_of
from horae.store.connections.each_cell import UNSERVED_OR_MOVING, Visits
from horae.store.encryption import data_keys, secrets
from horae.store.encryption.data_keys import WrappedKey
from horae.store.instances import instances
from horae.store.instances.instances import Payload
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tenants import references, tenants

PAGE: Final = 200
"""Rows per page."""
MAX_NAMED: Final = 20
"""Tenants that an error message names at most."""
NEW_KEY_SETTLE_TIME: Final = timedelta(seconds=30)
"""Time after which every process encrypts with a new data key, so that a walk finds all older payloads."""
POSTPONING: Final[tuple[type[Exception], ...]] = (KeysUnavailable, NewerRelease, *UNSERVED_OR_MOVING)
"""Errors after which a tenant is tried again later."""
BEFORE_ALL: Final = (-1, UUID(int=0))
"""A position (shard, id) before every instance."""


class Rewrapper:
    """A duty: wrap every data key with the current key-encryption key."""

    def __init__(self, store: StoreProtocol, envelopes: Envelopes) -> None:
        self.store = store
        self._keks = envelopes.keks
        self._failed: dict[UUID, str] = {}
        self._visits = Visits("rewrapper")

    async def once(self) -> int:
        """Visit all data keys at their home cells once. Returns 0: the next round can wait."""
        self._failed = {}
        await self._visits.each(self.store.cells, self._cell)
        return 0

    async def rewrap_all(self) -> int:
        """The same. Returns how many keys were wrapped again. Raises where a cell or a key was left out."""
        self._failed = {}
        done = await self._visits.each(self.store.cells, self._cell)
        if self._visits.unserved:
            raise Unavailable(f"{', '.join(self._visits.unserved)} did not answer; {done} were wrapped anew elsewhere")
        if self._failed:
            some = "; ".join(f"{tenant_id}: {reason}" for tenant_id, reason in list(self._failed.items())[:MAX_NAMED])
            raise Unavailable(
                f"{len(self._failed)} tenants keep the old key, {done} data keys were wrapped anew: {some}"
            )
        return done

    async def _cell(self, cell: CellProtocol) -> int:
        current = await self._keks.current()
        after, done = data_keys.FIRST, 0
        while True:
            async with cell.statement() as tx:
                page = await data_keys.page(tx, after, PAGE)
            for key in page:
                if not key.wrapped.startswith(current) and (wrapped := await self._rewrap(key)) is not None:
                    async with cell.statement() as tx:
                        done += await data_keys.rewrap(tx, key, wrapped)
            if len(page) < PAGE:
                return done
            after = page[-1]

    async def _rewrap(self, key: WrappedKey) -> str | None:
        """Returns a data key wrapped by the current key-encryption key; None, logged, where that is impossible.

        Raises where the current key-encryption key is unavailable.
        """
        try:
            return await self._keks.rewrap(key.wrapped)
        except (KeysUnavailable, Unopenable) as error:
            await self._keks.current()
            log.error("rewrap.failed", tenant=key.tenant_id, version=key.version, reason=str(error))
            self._failed[key.tenant_id] = str(error)
            return None


class Reencrypter:
    """A duty: encrypt live payloads and secrets again where the tenant has a new data key, then record that."""

    def __init__(self, store: StoreProtocol) -> None:
        self.store = store
        self._setbacks = Setbacks()
        self._visits = Visits("reencrypter")

    async def once(self) -> int:
        """Visit tenants whose new data key is older than `NEW_KEY_SETTLE_TIME`. Returns how many values it changed."""
        return await self._visits.each(self.store.cells, self._home)

    async def _home(self, home: CellProtocol) -> int:
        """Visit the tenants whose home is a cell."""
        after, done = data_keys.FIRST_UNWALKED, 0
        while True:
            async with home.statement() as tx:
                page = await data_keys.unwalked(tx, tx.now - NEW_KEY_SETTLE_TIME, after, PAGE)
            for one in page:
                if self._setbacks.may_try(one.tenant_id):
                    done += await self._visit_or_log(home, one.tenant_id, one.version)
            if len(page) < PAGE:
                return done
            after = page[-1]

    async def _visit_or_log(self, home: CellProtocol, tenant_id: UUID, version: int) -> int:
        """Visit one tenant. A failure is logged, and tried again after a pause."""
        try:
            done = await self._tenant(home, tenant_id, version)
        except POSTPONING as error:
            log.warning("reencryption.postponed", tenant=tenant_id, reason=str(error))
        except Exception:
            log.exception("reencryption.failed", tenant=tenant_id)
        else:
            self._setbacks.record_success(tenant_id)
            return done
        self._setbacks.record_failure(tenant_id)
        return 0

    async def _tenant(self, home: CellProtocol, tenant_id: UUID, version: int) -> int:
        async with home.statement() as tx:
            found = await tenants.known(tx, tenant_id)
            widest = await references.widest(tx, tenant_id)
        if found is None:
            return 0
        shards = found[0].all_shards(widest)
        key = await self.store.cipher.learn(tenant_id, version)
        done = sum([await self._cell(cell, key, shards) for cell in self.store.cells])
        done += await self._secrets(home, key)
        for shard in shards:
            self.store.cell(shard)  # raises for a moving shard, whose rows may have been missed
        async with home.statement() as tx:
            await data_keys.mark_walked(tx, tenant_id, version)
        if done:
            log.info("reencryption.done", tenant=tenant_id, version=version, payloads=done)
        return done

    async def _cell(self, cell: CellProtocol, key: DataKey, shards: Sequence[int]) -> int:
        after, done = BEFORE_ALL, 0
        while True:
            async with cell.statement() as tx:
                page = await instances.outdated_payloads(tx, key.tenant_id, shards, after, key.version, PAGE)
            rows = [row for one in page if (row := await self._reencrypt(key, one)) is not None]
            if rows:
                done += await cell.run(lambda tx, rows=rows: instances.reencrypt(tx, rows))  # type: ignore[misc]
            if len(page) < PAGE:
                return done
            after = page[-1][:2]

    async def _secrets(self, home: CellProtocol, key: DataKey) -> int:
        """Encrypt the tenant's named secrets again. A removed secret has no value."""
        async with home.statement() as tx:
            found = await secrets.of_tenant(tx, key.tenant_id)
        done = 0
        for kept in found:
            if kept.encrypted is None or version_of(kept.encrypted) == key.version:
                continue
            spot = secret_of(kept.name, kept.hosts)
            try:
                value = await self.store.cipher.decrypt(key.tenant_id, spot, kept.encrypted)
            except Unopenable:
                log.error("reencryption.undecryptable", secret=kept.name, tenant=key.tenant_id)
                continue
            async with home.statement() as tx:
                done += await secrets.reencrypt(tx, kept, key.encrypt(spot, value))
        return done

    async def _reencrypt(self, key: DataKey, one: Payload) -> tuple[int, UUID, object, object] | None:
        spot = payload_of(one.job_id, one.idem_key)
        try:
            clear = await self.store.cipher.decrypt(key.tenant_id, spot, read(one.payload))
        except Unopenable:
            log.error("reencryption.undecryptable", instance=one.id)  # it stays; its attempt fails with `SEALED`
            return None
        return one.shard, one.id, one.payload, key.encrypt(spot, clear)
