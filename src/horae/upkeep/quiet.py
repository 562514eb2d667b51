"""Finds the subscriptions without new events, by one query per cell for all of them.

1. A subscription that was sent everything below a horizon is caught up to it. That is remembered, not written.
2. Each round reads the horizon of the cell, and the tenants that had any event since the last round.
3. A subscription that was caught up to the last round, and whose tenant had no event, is caught up to this round and
   needs no step.
4. All others take a step: those of active tenants, new ones, changed ones, and those that failed. A few quiet ones also
   take a step, in turn, so that their positions in the database follow.

A lost memory costs a step, never an event: a step reads the positions of its subscription from the rows.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from horae.runtime.clock import boottime
from horae.store.events import feeds
from horae.store.tx import Tx

WIDEST_SPAN: Final = 1_000_000
"""Transactions since the last round above which every subscription takes a step."""
TURNS: Final = 5
"""Quiet subscriptions that take a step in each round."""
QUIET_STEP_INTERVAL_S: Final = 10.0
"""Seconds for which a quiet subscription takes no step, at least."""
MAX_TRANSACTION_TIME: Final = timedelta(hours=1)
"""The longest duration of a transaction. A row has a time at most this long before its transaction ended."""


class FeedReader(Protocol):
    """What events are read for: a subscription, or an edge between jobs. A new version is tried at once."""

    @property
    def id(self) -> UUID:
        """The id of its positions."""

    @property
    def tenant_id(self) -> UUID:
        """The tenant whose events it reads."""

    @property
    def name(self) -> str:
        """Its name for people."""

    @property
    def version(self) -> int:
        """The number of its changes."""


class CaughtUp(NamedTuple):
    """The horizon that a subscription is caught up to, its version and shard blocks then, and its last step's time."""

    xid: int
    version: int
    blocks: tuple[int, ...]
    stepped_at: float


class QuietLook(NamedTuple):
    """The result of a round's query: its span of transactions, and the tenants with events; None: possibly all."""

    since: int
    until: int
    active: frozenset[UUID] | None


class QuietSubscriptions:
    """What is remembered of one cell."""

    def __init__(self) -> None:
        self._caught: dict[UUID, CaughtUp] = {}
        self._until: int | None = None
        self._looked_at = boottime()

    async def look(self, tx: Tx, blocks: Sequence[int]) -> QuietLook:
        """Read the horizon, and the tenants that had events since the last round."""
        until, since, now = await feeds.horizon(tx), self._until, boottime()
        passed = timedelta(seconds=now - self._looked_at)
        self._until, self._looked_at = until, now
        if since is None or not 0 <= until - since <= WIDEST_SPAN:
            return QuietLook(until, until, None)
        if until == since:
            return QuietLook(since, until, frozenset())
        await feeds.wide(tx)
        active = await feeds.active(tx, (since, until), tx.now - passed - MAX_TRANSACTION_TIME, blocks)
        return QuietLook(since, until, frozenset(active))

    def busy(
        self, look: QuietLook, found: Iterable[FeedReader], blocks: Sequence[int], hears_all: frozenset[UUID]
    ) -> set[UUID]:
        """Returns the subscriptions that take a step now. Tenants in `hears_all` receive the events of every tenant."""
        standing, here = list(found), tuple(blocks)
        self._caught = {one.id: self._caught[one.id] for one in standing if one.id in self._caught}
        steps: set[UUID] = set()
        for one in standing:
            caught = self._caught.get(one.id)
            if caught is None or not self._is_quiet(caught, look, one, here, hears_all):
                steps.add(one.id)
            else:
                self._caught[one.id] = caught._replace(xid=look.until)
        return steps | set(self._turns(steps))

    def record_caught_up(self, reader: FeedReader, blocks: Sequence[int], xid: int | None) -> None:
        """Record that a step delivered everything below `xid`; None means that there may be more."""
        if xid is None:
            self._caught.pop(reader.id, None)
        else:
            self._caught[reader.id] = CaughtUp(xid, reader.version, tuple(blocks), boottime())

    def _is_quiet(
        self,
        caught: CaughtUp,
        look: QuietLook,
        reader: FeedReader,
        blocks: tuple[int, ...],
        hears_all: frozenset[UUID],
    ) -> bool:
        if look.active is None or caught.xid < look.since:
            return False
        if (caught.version, caught.blocks) != (reader.version, blocks):
            return False
        return not look.active if reader.tenant_id in hears_all else reader.tenant_id not in look.active

    def _turns(self, steps: set[UUID]) -> list[UUID]:
        """Returns the quiet subscriptions whose last step was longest ago."""
        before = boottime() - QUIET_STEP_INTERVAL_S
        waiting = [(one.stepped_at, id_) for id_, one in self._caught.items() if one.stepped_at < before]
        return [id_ for _, id_ in sorted(waiting)[:TURNS] if id_ not in steps]
