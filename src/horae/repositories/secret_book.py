"""The values of named secrets in this process: read when a call first needs them, and updated when they change.

Secrets of the deployment itself (`HORAE_SECRETS`) apply where the tenant has no secret of that name.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.encryption.encrypted_values import secret_of
from horae.domain.errors import KeysUnavailable, ShardClosed, Unopenable
from horae.domain.ids import shard_in
from horae.domain.limits.counts import REMOVED_KEPT
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.security.payload_cipher import PayloadCipher
from horae.store.connections.each_cell import Visits
from horae.store.encryption import secrets
from horae.store.encryption.secrets import SecretRow
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import GONE

MOST_TENANTS: Final = 10_000
MOST_NAMES: Final = 10_000
"""How many names of one tenant are remembered, including names without a secret."""
LATE_COMMIT_SLACK: Final = timedelta(seconds=30)
"""A change may commit after a later change was read, so each look reads again from this long before the last one."""
REMOVED: Final = ""
"""Marks a removed secret, so that an older row does not restore it. A real value is never empty."""
MAX_LOOK_GAP: Final = REMOVED_KEPT / 2
"""The longest time between two looks at a cell. After a longer gap, a removal may be deleted before it was read."""
HOME_TIMEOUT_S: Final = 1.0
"""Seconds to wait for a tenant's home cell: fires of other cells wait meanwhile."""
HOME_RETRY_PAUSE_S: Final = 5.0
"""Seconds for which a home cell that did not answer is not asked again."""
MISSING_NAME_REMEMBERED_S: Final = 5.0
"""Seconds for which a name that the home cell does not have is not requested again. A look finds it earlier."""
NO_ANSWER_ERRORS: Final[tuple[type[Exception], ...]] = (ShardClosed, *GONE)
Given = Callable[[UUID, str], str | None]
LearnGiven = Callable[[UUID], Awaitable[bool]]


async def _is_known(_tenant_id: UUID) -> bool:
    return True


class _Value(NamedTuple):
    """A value with its version and the hosts it may be sent to; None: it could not be decrypted.

    For a missing secret, `missing_until` says how long the answer of the tenant's home cell is valid; zero: not asked.
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
    """Returns the secrets of tenants. A duty looks for changes of the known ones every second."""

    def __init__(
        self, store: StoreProtocol, given: Given = lambda _tenant_id, _name: None, learn_given: LearnGiven = _is_known
    ) -> None:
        """`learn_given` loads the deployment's secrets for a tenant; it returns False if they are unknown now."""
        self._store = store
        self._given = given
        self._learn_given = learn_given
        self._of: OrderedDict[UUID, OrderedDict[str, _Value]] = OrderedDict()
        self._looked: dict[str, datetime] = {}
        self._silent_until: dict[str, float] = {}
        self._visits = Visits("secretbook")

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        """The value of a tenant's secret. Raises `KeysUnavailable` if it cannot be read or decrypted now."""
        kept = self._value_of(tenant_id, name)
        if kept.value is None:
            raise KeysUnavailable(f"the secret {name!r} cannot be opened now")
        value = self._value(tenant_id, name)
        if value is None and not kept.missing_until:
            raise KeysUnavailable(f"whether there is a secret {name!r} is not known now")
        return value

    def hosts(self, tenant_id: UUID, name: str) -> Sequence[str]:
        """The hosts that a tenant's secret may be sent to; empty: any host, as for the deployment's secrets."""
        kept = self._value_of(tenant_id, name)
        return () if kept.value == REMOVED else kept.hosts

    async def learn(self, cell: CellProtocol, needed: Mapping[UUID, Collection[str]], *, force: bool = False) -> None:
        """Load the secrets that tenants need, by name.

        1. Ask the cell that needs them first, because it is reachable.
        2. Its copies may not have arrived yet, so a name counts as missing only after the tenant's home cell has said
           so.
        3. A name that the home cell does not have is not requested again for some seconds, however often it is needed.
        4. With `force` a person waits for the answer: then a slow provider of keys is waited for, too.
        """
        lacking = {id_: some for id_, names in needed.items() if (some := self._lacking(id_, names, force=force))}
        if not lacking:
            return
        await self._read(cell, lacking, patient=force)
        for id_, names in lacking.items():
            is_known = await self._learn_given(id_)
            left = [name for name in names if force or self._value(id_, name) is None]
            if left and is_known:  # otherwise no name counts as missing
                await self._ask_home(id_, left, cell)

    async def once(self) -> int:
        """Read what changed in any cell since the last look; returns 0. A cell that is down is skipped."""
        return await self._visits.each(self._store.cells, self._look)

    async def _look(self, cell: CellProtocol) -> None:
        async with cell.statement() as tx:
            now, before = tx.now, self._looked.get(cell.name)
            news = await secrets.since(tx, (before or now) - LATE_COMMIT_SLACK)
        if before is not None and now - before > MAX_LOOK_GAP:
            self._of.clear()
        await self._take(one for one in news if one.name in self._of.get(one.tenant_id, ()))
        self._looked[cell.name] = now

    def _value_of(self, tenant_id: UUID, name: str) -> _Value:
        known = self._of.get(tenant_id)
        return NEVER if known is None else known.get(name, NEVER)

    def _value(self, tenant_id: UUID, name: str) -> str | None:
        """The tenant's own value, or else the deployment's."""
        value = self._value_of(tenant_id, name).value
        return self._given(tenant_id, name) if value == REMOVED else value

    def _lacking(self, tenant_id: UUID, names: Collection[str], *, force: bool) -> list[str]:
        """The names that have to be requested. Marks the others as recently used."""
        if (kept := self._of.get(tenant_id)) is not None:
            self._of.move_to_end(tenant_id)
            for name in names:
                if name in kept:
                    kept.move_to_end(name)
        return [name for name in names if force or self._lacks(tenant_id, name)]

    def _lacks(self, tenant_id: UUID, name: str) -> bool:
        if name not in self._of.get(tenant_id, ()):
            return True
        return self._value(tenant_id, name) is None and self._value_of(tenant_id, name).missing_until <= boottime()

    async def _read(self, cell: CellProtocol, wanted: Mapping[UUID, Sequence[str]], *, patient: bool = False) -> None:
        """Read secrets by name from one cell. A name is known when its value was decrypted, or is missing."""
        async with cell.statement() as tx:
            rows = await secrets.named(tx, wanted)
        await self._take(rows, patient=patient)
        for id_, names in wanted.items():
            kept = self._of.setdefault(id_, OrderedDict())
            for name in names:
                kept.setdefault(name, NEVER)
            while len(kept) > MOST_NAMES:
                kept.popitem(last=False)
        while len(self._of) > MOST_TENANTS:
            self._of.popitem(last=False)

    async def _ask_home(self, tenant_id: UUID, names: Sequence[str], asked: CellProtocol) -> None:
        """Ask the tenant's home cell. A cell that did not answer a moment ago is not waited for again."""
        try:
            home = self._store.cell(shard_in(tenant_id))
            if home is not asked:
                await self._read_patiently(home, {tenant_id: names})
        except NO_ANSWER_ERRORS:
            missing_until = 0.0
        else:
            missing_until = boottime() + MISSING_NAME_REMEMBERED_S
        kept = self._of.get(tenant_id, OrderedDict())
        for name in names:
            if (one := kept.get(name)) is not None and one.value == REMOVED:
                kept[name] = one._replace(missing_until=missing_until)

    async def _read_patiently(self, home: CellProtocol, wanted: Mapping[UUID, Sequence[str]]) -> None:
        if boottime() < self._silent_until.get(home.name, 0.0):
            raise TimeoutError
        try:
            async with asyncio.timeout(HOME_TIMEOUT_S):
                await self._read(home, wanted)
        except GONE:
            self._silent_until[home.name] = boottime() + HOME_RETRY_PAUSE_S
            raise

    async def _take(self, rows: Iterable[SecretRow], *, patient: bool = False) -> None:
        cipher = self._store.cipher if patient else self._store.cipher.promptly()
        opened = [(row, await _opened(cipher, row)) for row in rows if self._is_newer(row)]
        for row, value in opened:
            if self._is_newer(row):  # again: another task may have been faster
                until = boottime() + MISSING_NAME_REMEMBERED_S if value == REMOVED else 0.0
                kept = self._of.setdefault(row.tenant_id, OrderedDict())
                kept[row.name] = _Value(row.version, value, row.hosts, row.changed_at, until)

    def _is_newer(self, row: SecretRow) -> bool:
        """Whether a row is newer than what is known.

        A removed secret may have been deleted at home since; then its name starts with version 1 again.
        """
        before = self._value_of(row.tenant_id, row.name)
        if before.value == REMOVED and row.encrypted is not None and before.changed_at < row.changed_at:
            return True
        return before.version < row.version + (before.value is None)


async def _opened(cipher: PayloadCipher, row: SecretRow) -> str | None:
    if row.encrypted is None:
        return REMOVED
    try:
        value = await cipher.decrypt(row.tenant_id, secret_of(row.name, row.hosts), row.encrypted)
    except (KeysUnavailable, Unopenable) as error:
        log.warning("secret.undecryptable", tenant=row.tenant_id, secret=row.name, reason=str(error))
        return None
    return str(value)
