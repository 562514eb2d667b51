"""The values of named secrets in this process: read when a tenant first needs one, and kept up with what changes.

Secrets of the deployment itself (`HORAE_SECRETS`) count where the tenant has none of that name.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.sealed import secret_of
from horae.runtime.telemetry import log
from horae.store import secrets
from horae.store.cells import Cell, Store
from horae.store.secrets import Kept
from horae.store.tx import GONE

MOST_TENANTS: Final = 10_000
SLACK: Final = timedelta(seconds=30)
"""A change may be committed after a later one was seen, so each look reaches back."""
REMOVED: Final = ""
"""No value is empty: this one says that it was taken away, and must not come back with an older row."""
Given = Callable[[UUID, str], str | None]


class _Value(NamedTuple):
    """A value with the version it has; None: it could not be opened."""

    version: int
    value: str | None

    def __repr__(self) -> str:
        return f"_Value({self.version}, …)"


class SecretBook:
    """Answers for the secrets of tenants. A duty of every second looks for changes of those it knows."""

    def __init__(self, store: Store, given: Given = lambda _tenant_id, _name: None) -> None:
        self._store = store
        self._given = given
        self._of: OrderedDict[UUID, dict[str, _Value]] = OrderedDict()
        self._looked: dict[str, datetime] = {}

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        """The value of a tenant's secret. Raises `KeysUnavailable` for one that could not be opened."""
        kept = self._of.get(tenant_id, {}).get(name)
        if kept is None or kept.value == REMOVED:
            return self._given(tenant_id, name)
        if kept.value is None:
            raise KeysUnavailable(f"the secret {name!r} cannot be opened now")
        return kept.value

    async def learn(self, cell: Cell, tenant_ids: Collection[UUID], *, anew: bool = False) -> None:
        """Read the secrets of tenants not heard of yet, or with one that could not be opened."""
        missing = [id_ for id_ in tenant_ids if anew or not self._complete(id_)]
        if not missing:
            return
        async with cell.statement() as tx:
            found = await secrets.of_tenants(tx, missing)
        for id_ in missing:
            self._of[id_] = {}
            if len(self._of) > MOST_TENANTS:
                self._of.popitem(last=False)
        await self._take(found)

    async def once(self) -> int:
        """What changed in any cell since the last look; returns 0, there is no hurry. A cell that is down can wait."""
        for cell in self._store.cells:
            try:
                async with cell.statement() as tx:
                    now, before = tx.now, self._looked.get(cell.name)
                    news = await secrets.since(tx, (before or now) - SLACK)
            except GONE:
                continue
            await self._take(one for one in news if one.tenant_id in self._of)
            self._looked[cell.name] = now
        return 0

    def _complete(self, tenant_id: UUID) -> bool:
        kept = self._of.get(tenant_id)
        return kept is not None and all(one.value is not None for one in kept.values())

    async def _take(self, rows: Iterable[Kept]) -> None:
        for row in rows:
            kept = self._of.get(row.tenant_id, {})
            before = kept.get(row.name)
            if before is not None and before.version >= row.version + (before.value is None):
                continue
            if row.sealed is None:
                kept[row.name] = _Value(row.version, REMOVED)
            else:
                kept[row.name] = _Value(row.version, await self._opened(row))

    async def _opened(self, row: Kept) -> str | None:
        try:
            value = await self._store.sealing.open(row.tenant_id, secret_of(row.name), row.sealed)
        except (KeysUnavailable, Unopenable) as error:
            log.warning("secret.closed", tenant=str(row.tenant_id), secret=row.name, reason=str(error))
            return None
        return str(value)
