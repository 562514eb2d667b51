"""Renews a node's slices of the limits whose home is one cell: one round, a short transaction, for many keys."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from horae.domain.limits.limits import Ask, Bucket, Key, Limit, LimitGrant, LimitHolder, decide
from horae.engine.quotas.slices import ROUND_INTERVAL_S
from horae.runtime.batch import halve
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.connections.direct_connection import DirectConnection
from horae.store.limits import quotas
from horae.store.limits.quotas import Row
from horae.store.tx import BAD_ROW, Tx

if TYPE_CHECKING:
    from horae.store.connections.direct_connection import Connection

ROUND_TIMEOUT_S: Final = 2.0
"""Seconds that a round may take; more where the cell answers slowly."""
MAX_ROUND_TIMEOUT_S: Final = 6.0
"""Enough for five answers of 0.2 s each, and for other nodes that lock the same rows first."""
FAILURE_PAUSE_S: Final = 1.0
"""Seconds after a failed round until the next one."""


class QuotaRenewer:
    """Runs rounds with one cell, on its own connection. No round begins before the tick `open_at`."""

    def __init__(self, cell: Cell, incarnation: UUID, life: timedelta) -> None:
        self.open_at = 0.0
        self.line = DirectConnection(cell.dsn, "quota", patience=MAX_ROUND_TIMEOUT_S)
        self._cell = cell
        self._incarnation = incarnation
        self._life = life
        self._failing = False
        self._patience_s = ROUND_TIMEOUT_S

    async def renew(self, asks: Mapping[Key, Ask], limits: Mapping[Key, Limit]) -> dict[Key, LimitGrant]:
        """Run a round; returns what the cell grants. If the cell cannot be reached: nothing, which is logged once.

        A round may take four times as long as the last one, within bounds. A key that the database refuses is isolated
        by halving the batch; the others are granted.
        """

        async def ask(keys: Sequence[Key]) -> list[tuple[Key, LimitGrant]]:
            async def work(connection: "Connection") -> dict[Key, LimitGrant]:
                async with connection.transaction():
                    tx = Tx(connection, self._cell.clock.now())
                    return await self._decide(tx, asks, {key: limits[key] for key in keys})

            return list((await self.line.call(work, patience=self._patience_s)).items())

        began = boottime()
        self.open_at = began + ROUND_INTERVAL_S
        try:
            done = await halve(list(limits), ask, BAD_ROW)
        except Exception as error:
            if isinstance(error, TimeoutError):
                self._patience_s = min(2 * self._patience_s, MAX_ROUND_TIMEOUT_S)
            if not self._failing:
                log.warning("quota.not_renewed", cell=self._cell.name, error=repr(error))
            self._failing, self.open_at = True, boottime() + FAILURE_PAUSE_S
            return {}
        for key, reason in done.refused:
            log.error("quota.refused", cell=self._cell.name, tenant=key.tenant_id, key=key.name, reason=reason)
        self._failing = False
        self._patience_s = max(
            ROUND_TIMEOUT_S, 0.75 * self._patience_s, min(4 * (boottime() - began), MAX_ROUND_TIMEOUT_S)
        )
        return dict(done.results)

    async def _decide(self, tx: Tx, asks: Mapping[Key, Ask], limits: Mapping[Key, Limit]) -> dict[Key, LimitGrant]:
        buckets = await self._lock_buckets(tx, limits)
        tx.now = self._cell.clock.now()  # waiting for the locks took time: frames that passed meanwhile are over
        found = await quotas.holders(tx, list(buckets))
        grants: dict[Key, LimitGrant] = {}
        rows: list[Row] = []
        for key, bucket in buckets.items():
            ask, others = asks[key], [one for one in found.get(key, ()) if one.incarnation != self._incarnation]
            mine = next((one for one in found.get(key, ()) if one.incarnation == self._incarnation), None)
            me = mine or LimitHolder(self._incarnation, 0, 0, 0.0, None, tx.now)
            after, grant = decide(limits[key], bucket, me, ask, others, tx.now)
            served_at = tx.now if grant.held > ask.keep else me.served_at
            rows.append(
                Row(
                    key,
                    after,
                    LimitHolder(self._incarnation, grant.held, ask.wanted, ask.need + ask.backlog, served_at, tx.now),
                )
            )
            grants[key] = grant
        written = await quotas.write(tx, self._incarnation, rows, self._life)
        return {key: grant for key, grant in grants.items() if key in written}

    async def _lock_buckets(self, tx: Tx, limits: Mapping[Key, Limit]) -> dict[Key, Bucket]:
        """Lock and return the buckets. A key without a row gets a full bucket."""
        buckets = await quotas.lock(tx, list(limits))
        missing = [(key, limit.inflow.depth) for key, limit in limits.items() if key not in buckets]
        if missing:
            await quotas.create(tx, missing)
            buckets |= await quotas.lock(tx, [key for key, _ in missing])
        return buckets
