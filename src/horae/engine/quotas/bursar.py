"""Where a node asks one cell for its slices of the limits that live there: one round for many keys."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from horae.domain.limits import Ask, Bucket, Grant, Holder, Key, Limit, decide
from horae.engine.quotas.slices import ROUND
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store import quotas
from horae.store.cells import Cell
from horae.store.line import Line
from horae.store.quotas import Row
from horae.store.tx import Tx

if TYPE_CHECKING:
    from horae.store.line import Connection

PATIENCE: Final = 1.0
AFTER_FAILURE: Final = 1.0


class Bursar:
    """Rounds with one cell, on a connection of their own. `open_at` is the tick before which none begins."""

    def __init__(self, cell: Cell, incarnation: UUID, life: timedelta) -> None:
        self.open_at = 0.0
        self.line = Line(cell.dsn, "quota", patience=PATIENCE)
        self._cell = cell
        self._incarnation = incarnation
        self._life = life
        self._failing = False

    async def renew(self, asks: Mapping[Key, Ask], limits: Mapping[Key, Limit]) -> dict[Key, Grant]:
        """What the cell grants; nothing where it cannot be reached, which is logged once."""

        async def work(connection: "Connection") -> dict[Key, Grant]:
            async with connection.transaction():
                return await self._decide(Tx(connection, self._cell.clock.now()), asks, limits)

        self.open_at = boottime() + ROUND
        try:
            grants = await self.line.call(work)
        except Exception as error:
            if not self._failing:
                log.warning("quota.not_renewed", cell=self._cell.name, error=repr(error))
            self._failing, self.open_at = True, boottime() + AFTER_FAILURE
            return {}
        self._failing = False
        return grants

    async def _decide(self, tx: Tx, asks: Mapping[Key, Ask], limits: Mapping[Key, Limit]) -> dict[Key, Grant]:
        buckets = await self._locked(tx, limits)
        found = await quotas.holders(tx, list(buckets))
        grants: dict[Key, Grant] = {}
        rows: list[Row] = []
        for key, bucket in buckets.items():
            ask, others = asks[key], [one for one in found.get(key, ()) if one.incarnation != self._incarnation]
            mine = next((one for one in found.get(key, ()) if one.incarnation == self._incarnation), None)
            me = mine or Holder(self._incarnation, 0, 0, 0.0, None, tx.now)
            after, grant = decide(limits[key], bucket, me, ask, others, tx.now)
            served_at = tx.now if grant.held > ask.keep else me.served_at
            rows.append(
                Row(key, after, Holder(self._incarnation, grant.held, ask.wanted, ask.tokens, served_at, tx.now))
            )
            grants[key] = grant
        written = await quotas.write(tx, self._incarnation, rows, self._life)
        return {key: grant for key, grant in grants.items() if key in written}

    async def _locked(self, tx: Tx, limits: Mapping[Key, Limit]) -> dict[Key, Bucket]:
        """The buckets, full ones for keys that were never asked for."""
        buckets = await quotas.lock(tx, list(limits))
        missing = [(key, limit.depth) for key, limit in limits.items() if key not in buckets]
        if missing:
            await quotas.create(tx, missing)
            buckets |= await quotas.lock(tx, [key for key, _ in missing])
        return buckets
