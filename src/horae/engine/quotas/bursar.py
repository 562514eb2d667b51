"""Where a node asks one cell for its slices of the limits that live there: one round for many keys."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from horae.domain.limits import Ask, Bucket, Grant, Holder, Key, Limit, decide
from horae.engine.quotas.slices import ROUND
from horae.runtime.batch import halve
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store import quotas
from horae.store.cells import Cell
from horae.store.line import Line
from horae.store.quotas import Row
from horae.store.tx import BAD_ROW, Tx

if TYPE_CHECKING:
    from horae.store.line import Connection

PATIENCE_S: Final = 2.0
MAX_PATIENCE_S: Final = 6.0
"""For five answers of a database that takes a fifth of a second for each, with other nodes before us at the row."""
AFTER_FAILURE: Final = 1.0


class Bursar:
    """Rounds with one cell, on a connection of their own. `open_at` is the tick before which none begins."""

    def __init__(self, cell: Cell, incarnation: UUID, life: timedelta) -> None:
        self.open_at = 0.0
        self.line = Line(cell.dsn, "quota", patience=MAX_PATIENCE_S)
        self._cell = cell
        self._incarnation = incarnation
        self._life = life
        self._failing = False
        self._patience_s = PATIENCE_S

    async def renew(self, asks: Mapping[Key, Ask], limits: Mapping[Key, Limit]) -> dict[Key, Grant]:
        """What the cell grants; nothing where it cannot be reached, which is logged once.

        Where a cell answers slowly a round has more time: four times what the last one took. A key that the database
        will not have stands alone, and costs the others nothing.
        """

        async def ask(keys: Sequence[Key]) -> list[tuple[Key, Grant]]:
            async def work(connection: "Connection") -> dict[Key, Grant]:
                async with connection.transaction():
                    tx = Tx(connection, self._cell.clock.now())
                    return await self._decide(tx, asks, {key: limits[key] for key in keys})

            return list((await self.line.call(work, patience=self._patience_s)).items())

        began = boottime()
        self.open_at = began + ROUND
        try:
            done = await halve(list(limits), ask, BAD_ROW)
        except Exception as error:
            if isinstance(error, TimeoutError):
                self._patience_s = min(2 * self._patience_s, MAX_PATIENCE_S)
            if not self._failing:
                log.warning("quota.not_renewed", cell=self._cell.name, error=repr(error))
            self._failing, self.open_at = True, boottime() + AFTER_FAILURE
            return {}
        for key, reason in done.refused:
            log.error("quota.refused", cell=self._cell.name, tenant=str(key.tenant_id), key=key.name, reason=reason)
        self._failing = False
        self._patience_s = max(PATIENCE_S, 0.75 * self._patience_s, min(4 * (boottime() - began), MAX_PATIENCE_S))
        return dict(done.results)

    async def _decide(self, tx: Tx, asks: Mapping[Key, Ask], limits: Mapping[Key, Limit]) -> dict[Key, Grant]:
        buckets = await self._locked(tx, limits)
        tx.now = self._cell.clock.now()  # others may have held the rows for a while: no frame of that time is left
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
                Row(
                    key,
                    after,
                    Holder(self._incarnation, grant.held, ask.wanted, ask.need + ask.backlog, served_at, tx.now),
                )
            )
            grants[key] = grant
        written = await quotas.write(tx, self._incarnation, rows, self._life)
        return {key: grant for key, grant in grants.items() if key in written}

    async def _locked(self, tx: Tx, limits: Mapping[Key, Limit]) -> dict[Key, Bucket]:
        """The buckets, full ones for keys that were never asked for."""
        buckets = await quotas.lock(tx, list(limits))
        missing = [(key, limit.inflow.depth) for key, limit in limits.items() if key not in buckets]
        if missing:
            await quotas.create(tx, missing)
            buckets |= await quotas.lock(tx, [key for key, _ in missing])
        return buckets
