"""The values of named secrets in this process: read when a tenant first needs one, and kept up with what changes.

Secrets of the deployment itself (`HORAE_SECRETS`) count where the tenant has none of that name.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import KeysUnavailable, ShardClosed, Unopenable
from horae.domain.ids import shard_in
from horae.domain.sealed import secret_of
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store import secrets
from horae.store.cells import Cell, Store
from horae.store.each import Visits
from horae.store.secrets import Kept
from horae.store.tx import GONE

MOST_TENANTS: Final = 10_000
SLACK: Final = timedelta(seconds=30)
"""A change may be committed after a later one was seen, so each look reaches back."""
REMOVED: Final = ""
"""No value is empty: this one says that it was taken away, and must not come back with an older row."""
PATIENCE: Final = 1.0
"""Seconds for which a tenant's home is waited for: other cells' fires wait with it."""
PAUSE: Final = 5.0
"""Seconds for which a home that did not answer is not asked again."""
UNANSWERED: Final[tuple[type[Exception], ...]] = (ShardClosed, *GONE)
Given = Callable[[UUID, str], str | None]


class _Value(NamedTuple):
    """A value with the version it has and the hosts it may be sent to; None: it could not be opened."""

    version: int
    value: str | None
    hosts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"_Value({self.version}, …)"


NEVER: Final = _Value(0, REMOVED)


class SecretBook:
    """Answers for the secrets of tenants. A duty of every second looks for changes of those it knows."""

    def __init__(self, store: Store, given: Given = lambda _tenant_id, _name: None) -> None:
        self._store = store
        self._given = given
        self._of: OrderedDict[UUID, dict[str, _Value]] = OrderedDict()
        self._looked: dict[str, datetime] = {}
        self._unasked: set[UUID] = set()  # tenants whose home did not answer: what they lack may only be late
        self._silent_until: dict[str, float] = {}
        self._visits = Visits("secretbook")

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        """The value of a tenant's secret. Raises `KeysUnavailable` for one that cannot be known or opened now."""
        known = self._of.get(tenant_id)
        kept = NEVER.value if known is None else known.get(name, NEVER).value
        if kept is None:
            raise KeysUnavailable(f"the secret {name!r} cannot be opened now")
        value = self._given(tenant_id, name) if kept == REMOVED else kept
        if value is None and (known is None or tenant_id in self._unasked):
            raise KeysUnavailable(f"whether there is a secret {name!r} is not known now")
        return value

    def hosts(self, tenant_id: UUID, name: str) -> Sequence[str]:
        """The hosts that a tenant's secret may be sent to; none: to any. The deployment's own are bound to none."""
        kept = self._of.get(tenant_id, {}).get(name, NEVER)
        return () if kept.value == REMOVED else kept.hosts

    async def learn(self, cell: Cell, needed: Mapping[UUID, Collection[str]], *, anew: bool = False) -> None:
        """Have what tenants need at hand, by their names.

        The cell that needs them is asked first, for it is there. What its copies lack may be on its way, so nothing is
        taken for missing before the tenant's home has said so.
        """
        for id_ in needed:
            if id_ in self._of:
                self._of.move_to_end(id_)  # who is needed now is forgotten last
        lacking = [id_ for id_, names in needed.items() if anew or self._lacks(id_, names)]
        if lacking:
            await self._read(cell, lacking)
        for id_ in lacking:
            if anew or self._lacks(id_, needed[id_]):
                await self._ask_home(id_, cell)

    async def once(self) -> int:
        """What changed in any cell since the last look; returns 0, there is no hurry. A cell that is down can wait."""
        return await self._visits.each(self._store.cells, self._look)

    async def _look(self, cell: Cell) -> None:
        async with cell.statement() as tx:
            now, before = tx.now, self._looked.get(cell.name)
            news = await secrets.since(tx, (before or now) - SLACK)
        await self._take(one for one in news if one.tenant_id in self._of)
        self._looked[cell.name] = now

    def _lacks(self, tenant_id: UUID, names: Collection[str]) -> bool:
        kept = self._of.get(tenant_id)
        if kept is None:
            return bool(names)  # who needs none is not read for
        values = {name: kept.get(name, NEVER).value for name in names}
        return any((self._given(tenant_id, name) if one == REMOVED else one) is None for name, one in values.items())

    async def _read(self, cell: Cell, tenant_ids: Sequence[UUID]) -> None:
        """What these have, as a cell knows it. Nobody sees a part of it: a tenant is known when all was opened."""
        async with cell.statement() as tx:
            rows = await secrets.of_tenants(tx, tenant_ids)
        await self._take(rows)
        for id_ in tenant_ids:
            self._of.setdefault(id_, {})
        while len(self._of) > MOST_TENANTS:
            self._unasked.discard(self._of.popitem(last=False)[0])

    async def _ask_home(self, tenant_id: UUID, asked: Cell) -> None:
        """One that was silent a moment ago is not waited for by everybody in turn."""
        try:
            home = self._store.cell(shard_in(tenant_id))
            if home is not asked:
                await self._read_patiently(home, tenant_id)
        except UNANSWERED:
            self._unasked.add(tenant_id)
        else:
            self._unasked.discard(tenant_id)

    async def _read_patiently(self, home: Cell, tenant_id: UUID) -> None:
        if boottime() < self._silent_until.get(home.name, 0.0):
            raise TimeoutError
        try:
            async with asyncio.timeout(PATIENCE):
                await self._read(home, [tenant_id])
        except GONE:
            self._silent_until[home.name] = boottime() + PAUSE
            raise

    async def _take(self, rows: Iterable[Kept]) -> None:
        opened = [(row, await self._opened(row)) for row in rows if self._is_news(row)]
        for row, value in opened:
            if self._is_news(row):  # still: others took some meanwhile
                self._of.setdefault(row.tenant_id, {})[row.name] = _Value(row.version, value, row.hosts)

    def _is_news(self, row: Kept) -> bool:
        before = self._of.get(row.tenant_id, {}).get(row.name, NEVER)
        return before.version < row.version + (before.value is None)

    async def _opened(self, row: Kept) -> str | None:
        if row.sealed is None:
            return REMOVED
        try:
            value = await self._store.sealing.open(row.tenant_id, secret_of(row.name, row.hosts), row.sealed)
        except (KeysUnavailable, Unopenable) as error:
            log.warning("secret.closed", tenant=str(row.tenant_id), secret=row.name, reason=str(error))
            return None
        return str(value)
