"""After a rotation: data keys wrapped anew, and live payloads sealed with their tenant's newest key.

What has ended keeps the version it was sealed with, and the version stays. Everything here may stop anywhere and be
done twice: rows are changed only where they are as they were read.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from horae.domain.errors import KeysUnavailable, Unavailable, Unopenable
from horae.domain.sealed import payload_of, read, secret_of
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import log
from horae.security.envelopes import DataKey, version_of
from horae.store import data_keys, instances, references, secrets, tenants
from horae.store.cells import Cell, Store
from horae.store.data_keys import Wrapped
from horae.store.each import UNSERVED_OR_MOVING, Visits
from horae.store.envelopes import Envelopes
from horae.store.instances import Payload

PAGE: Final = 200
MAX_NAMED: Final = 20
SETTLED: Final = timedelta(seconds=30)
"""So long after a new key was made every process seals with it, and a walk finds what older ones sealed."""
POSTPONING: Final[tuple[type[Exception], ...]] = (KeysUnavailable, *UNSERVED_OR_MOVING)
BEFORE_ALL: Final = (-1, UUID(int=0))


class Rewrapper:
    """A duty: every data key that another key-encryption key than the current one wraps is wrapped by that one."""

    def __init__(self, store: Store, envelopes: Envelopes) -> None:
        self.store = store
        self._keks = envelopes.keks
        self._failed: dict[UUID, str] = {}
        self._visits = Visits("rewrapper")

    async def once(self) -> int:
        """All data keys at their homes, once; returns 0, there is no hurry."""
        self._failed = {}
        await self._visits.each(self.store.cells, self._cell)
        return 0

    async def rewrap_all(self) -> int:
        """The same; returns how many were wrapped anew. Raises where a cell or a key was left out."""
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

    async def _cell(self, cell: Cell) -> int:
        current = await self._keks.current()
        after, done = data_keys.FIRST, 0
        while True:
            async with cell.statement() as tx:
                page = await data_keys.page(tx, after, PAGE)
            for key in page:
                if not key.wrapped.startswith(current) and (wrapped := await self._rewrapped(key)) is not None:
                    async with cell.statement() as tx:
                        done += await data_keys.rewrap(tx, key, wrapped)
            if len(page) < PAGE:
                return done
            after = page[-1]

    async def _rewrapped(self, key: Wrapped) -> str | None:
        """One key under the current one; None: it cannot be, and is noted. Raises where the current one is away."""
        try:
            return await self._keks.rewrap(key.wrapped)
        except (KeysUnavailable, Unopenable) as error:
            await self._keks.current()
            log.error("rewrap.failed", tenant=str(key.tenant_id), version=key.version, reason=str(error))
            self._failed[key.tenant_id] = str(error)
            return None


class Resealer:
    """A duty: the live payloads of tenants with a new key, page by page; then that is remembered."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._setbacks = Setbacks()
        self._visits = Visits("resealer")

    async def once(self) -> int:
        """Every tenant with a key that was made a while ago and not walked for; returns how many payloads changed."""
        return await self._visits.each(self.store.cells, self._home)

    async def _home(self, home: Cell) -> int:
        """The tenants that are at home in a cell."""
        after, done = data_keys.FIRST_UNWALKED, 0
        while True:
            async with home.statement() as tx:
                page = await data_keys.unwalked(tx, tx.now - SETTLED, after, PAGE)
            for one in page:
                if self._setbacks.may_try(one.tenant_id):
                    done += await self._alone(home, one.tenant_id, one.version)
            if len(page) < PAGE:
                return done
            after = page[-1]

    async def _alone(self, home: Cell, tenant_id: UUID, version: int) -> int:
        """One tenant; what fails is told of, and tried again after a pause."""
        async with home.statement() as tx:
            found = await tenants.known(tx, tenant_id)
            widest = await references.widest(tx, tenant_id)
        if found is None:
            return 0
        try:
            done = await self._tenant(home, tenant_id, version, found[0].all_shards(widest))
        except POSTPONING as error:
            log.warning("reseal.postponed", tenant=str(tenant_id), reason=str(error))
        except Exception:
            log.exception("reseal.failed", tenant=str(tenant_id))
        else:
            self._setbacks.succeeded(tenant_id)
            return done
        self._setbacks.failed(tenant_id)
        return 0

    async def _tenant(self, home: Cell, tenant_id: UUID, version: int, shards: Sequence[int]) -> int:
        key = await self.store.sealing.learn(tenant_id, version)
        done = sum([await self._cell(cell, key, shards) for cell in self.store.cells])
        done += await self._secrets(home, key)
        for shard in shards:
            self.store.cell(shard)  # a shard that is moving may have been passed over
        async with home.statement() as tx:
            await data_keys.walked(tx, tenant_id, version)
        if done:
            log.info("reseal.done", tenant=str(tenant_id), version=version, payloads=done)
        return done

    async def _cell(self, cell: Cell, key: DataKey, shards: Sequence[int]) -> int:
        after, done = BEFORE_ALL, 0
        while True:
            async with cell.statement() as tx:
                page = await instances.unsealed(tx, key.tenant_id, shards, after, key.version, PAGE)
            rows = [row for one in page if (row := await self._anew(key, one)) is not None]
            if rows:
                done += await cell.run(lambda tx, rows=rows: instances.reseal(tx, rows))  # type: ignore[misc]
            if len(page) < PAGE:
                return done
            after = page[-1][:2]

    async def _secrets(self, home: Cell, key: DataKey) -> int:
        """Its named secrets, too; they are few. A removed one has no value."""
        async with home.statement() as tx:
            found = await secrets.of_tenant(tx, key.tenant_id)
        done = 0
        for kept in found:
            if kept.sealed is None or version_of(kept.sealed) == key.version:
                continue
            spot = secret_of(kept.name, kept.hosts)
            try:
                value = await self.store.sealing.open(key.tenant_id, spot, kept.sealed)
            except Unopenable:
                log.error("reseal.unopenable", secret=kept.name, tenant=str(key.tenant_id))
                continue
            async with home.statement() as tx:
                done += await secrets.reseal(tx, kept, key.seal(spot, value))
        return done

    async def _anew(self, key: DataKey, one: Payload) -> tuple[int, UUID, object, object] | None:
        spot = payload_of(one.job_id, one.idem_key)
        try:
            clear = await self.store.sealing.open(key.tenant_id, spot, read(one.payload))
        except Unopenable:
            log.error("reseal.unopenable", instance=str(one.id))  # it stays as it is, and its attempt will say so
            return None
        return one.shard, one.id, one.payload, key.seal(spot, clear)
