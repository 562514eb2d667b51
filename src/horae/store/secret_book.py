"""The values of named secrets in this process: each is read when a call first needs it, and kept up with what changes.

Secrets of the deployment itself (`HORAE_SECRETS`) count where the tenant has none of that name.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.counts import REMOVED_KEPT
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
MOST_NAMES: Final = 10_000
"""Names of one tenant that are remembered, whether there are such secrets or not."""
SLACK: Final = timedelta(seconds=30)
"""A change may be committed after a later one was seen, so each look reaches back."""
REMOVED: Final = ""
"""No value is empty: this one says that it was taken away, and must not come back with an older row."""
LONGEST_GAP: Final = REMOVED_KEPT / 2
"""Between two looks at a cell: after a longer one a removal may have been forgotten before it was seen."""
PATIENCE: Final = 1.0
"""Seconds for which a tenant's home is waited for: other cells' fires wait with it."""
PAUSE: Final = 5.0
"""Seconds for which a home that did not answer is not asked again."""
MISSING_FOR_S: Final = 5.0
"""Seconds for which a name that the tenant's home does not have is not asked for again; looks find a value earlier."""
UNANSWERED: Final[tuple[type[Exception], ...]] = (ShardClosed, *GONE)
Given = Callable[[UUID, str], str | None]
LearnGiven = Callable[[UUID], Awaitable[bool]]


async def _is_known(_tenant_id: UUID) -> bool:
    return True


class _Value(NamedTuple):
    """A value with the version it has and the hosts it may be sent to; None: it could not be opened.

    Where there is none, `missing_until` says until when the word of the tenant's home counts; zero: it was not asked.
    """

    version: int
    value: str | None
    hosts: tuple[str, ...] = ()
    changed_at: datetime = datetime.min.replace(tzinfo=UTC)
    missing_until: float = 0.0

    def __repr__(self) -> str:
        return f"_Value({self.version}, …)"


NEVER: Final = _Value(0, REMOVED)


class SecretBook:
    """Answers for the secrets of tenants. A duty of every second looks for changes of those it knows."""

    def __init__(
        self, store: Store, given: Given = lambda _tenant_id, _name: None, learn_given: LearnGiven = _is_known
    ) -> None:
        """`learn_given` finds out what the deployment has for a tenant; False: that cannot be known now."""
        self._store = store
        self._given = given
        self._learn_given = learn_given
        self._of: OrderedDict[UUID, OrderedDict[str, _Value]] = OrderedDict()
        self._looked: dict[str, datetime] = {}
        self._silent_until: dict[str, float] = {}
        self._visits = Visits("secretbook")

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        """The value of a tenant's secret. Raises `KeysUnavailable` for one that cannot be known or opened now."""
        kept = self._kept(tenant_id, name)
        if kept.value is None:
            raise KeysUnavailable(f"the secret {name!r} cannot be opened now")
        value = self._value(tenant_id, name)
        if value is None and not kept.missing_until:
            raise KeysUnavailable(f"whether there is a secret {name!r} is not known now")
        return value

    def hosts(self, tenant_id: UUID, name: str) -> Sequence[str]:
        """The hosts that a tenant's secret may be sent to; none: to any. The deployment's own are bound to none."""
        kept = self._kept(tenant_id, name)
        return () if kept.value == REMOVED else kept.hosts

    async def learn(self, cell: Cell, needed: Mapping[UUID, Collection[str]], *, anew: bool = False) -> None:
        """Have what tenants need at hand, by their names.

        1. The cell that needs them is asked first, for it is there.
        2. What its copies lack may be on its way, so nothing is taken for missing before the tenant's home has said so.
        3. What the home does not have is not asked for again for some seconds, however often it is needed.
        """
        lacking = {id_: some for id_, names in needed.items() if (some := self._lacking(id_, names, anew=anew))}
        if not lacking:
            return
        await self._read(cell, lacking)
        for id_, names in lacking.items():
            is_known = await self._learn_given(id_)
            left = [name for name in names if anew or self._value(id_, name) is None]
            if left and is_known:  # else nothing is taken for missing
                await self._ask_home(id_, left, cell)

    async def once(self) -> int:
        """What changed in any cell since the last look; returns 0, there is no hurry. A cell that is down can wait."""
        return await self._visits.each(self._store.cells, self._look)

    async def _look(self, cell: Cell) -> None:
        async with cell.statement() as tx:
            now, before = tx.now, self._looked.get(cell.name)
            news = await secrets.since(tx, (before or now) - SLACK)
        if before is not None and now - before > LONGEST_GAP:
            self._of.clear()
        await self._take(one for one in news if one.name in self._of.get(one.tenant_id, ()))
        self._looked[cell.name] = now

    def _kept(self, tenant_id: UUID, name: str) -> _Value:
        known = self._of.get(tenant_id)
        return NEVER if known is None else known.get(name, NEVER)

    def _value(self, tenant_id: UUID, name: str) -> str | None:
        """The tenant's own value, else the deployment's."""
        value = self._kept(tenant_id, name).value
        return self._given(tenant_id, name) if value == REMOVED else value

    def _lacking(self, tenant_id: UUID, names: Collection[str], *, anew: bool) -> list[str]:
        """Those of the names that have to be asked for. What is needed now is forgotten last."""
        if (kept := self._of.get(tenant_id)) is not None:
            self._of.move_to_end(tenant_id)
            for name in names:
                if name in kept:
                    kept.move_to_end(name)
        return [name for name in names if anew or self._lacks(tenant_id, name)]

    def _lacks(self, tenant_id: UUID, name: str) -> bool:
        if name not in self._of.get(tenant_id, ()):
            return True
        return self._value(tenant_id, name) is None and self._kept(tenant_id, name).missing_until <= boottime()

    async def _read(self, cell: Cell, wanted: Mapping[UUID, Sequence[str]]) -> None:
        """Read secrets by name, as a cell knows them. A name is known when its value was opened, or is missing."""
        async with cell.statement() as tx:
            rows = await secrets.named(tx, wanted)
        await self._take(rows)
        for id_, names in wanted.items():
            kept = self._of.setdefault(id_, OrderedDict())
            for name in names:
                kept.setdefault(name, NEVER)
            while len(kept) > MOST_NAMES:
                kept.popitem(last=False)
        while len(self._of) > MOST_TENANTS:
            self._of.popitem(last=False)

    async def _ask_home(self, tenant_id: UUID, names: Sequence[str], asked: Cell) -> None:
        """One that was silent a moment ago is not waited for by everybody in turn."""
        try:
            home = self._store.cell(shard_in(tenant_id))
            if home is not asked:
                await self._read_patiently(home, {tenant_id: names})
        except UNANSWERED:
            missing_until = 0.0
        else:
            missing_until = boottime() + MISSING_FOR_S
        kept = self._of.get(tenant_id, OrderedDict())
        for name in names:
            if (one := kept.get(name)) is not None and one.value == REMOVED:
                kept[name] = one._replace(missing_until=missing_until)

    async def _read_patiently(self, home: Cell, wanted: Mapping[UUID, Sequence[str]]) -> None:
        if boottime() < self._silent_until.get(home.name, 0.0):
            raise TimeoutError
        try:
            async with asyncio.timeout(PATIENCE):
                await self._read(home, wanted)
        except GONE:
            self._silent_until[home.name] = boottime() + PAUSE
            raise

    async def _take(self, rows: Iterable[Kept]) -> None:
        opened = [(row, await self._opened(row)) for row in rows if self._is_news(row)]
        for row, value in opened:
            if self._is_news(row):  # still: others took some meanwhile
                until = boottime() + MISSING_FOR_S if value == REMOVED else 0.0
                kept = self._of.setdefault(row.tenant_id, OrderedDict())
                kept[row.name] = _Value(row.version, value, row.hosts, row.changed_at, until)

    def _is_news(self, row: Kept) -> bool:
        """A removed one may have been forgotten at home; then its name begins with version 1 again."""
        before = self._kept(row.tenant_id, row.name)
        if before.value == REMOVED and row.sealed is not None and before.changed_at < row.changed_at:
            return True
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
