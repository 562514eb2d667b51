"""Which subscriptions have nothing to be told: one look per cell says so for all of them.

1. A subscription that was told everything below a horizon is caught up to it. That is remembered, not written.
2. Each round reads the cell's horizon and the tenants to which anything happened since the round before.
3. Whoever was caught up to that round, and to whose tenant nothing happened, is caught up to this one and left alone.
4. All others take a step of their own: those of busy tenants, new ones, changed ones, and those that failed. So do a
   few of the quiet ones, in turn, that their places in the database follow.

What is forgotten costs a step, never an event: a step reads where its subscription stands from the rows.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.channels import Channel
from horae.runtime.clock import boottime
from horae.store import feeds
from horae.store.tx import Tx

WIDEST_SPAN: Final = 1_000_000
"""Transactions since the last round; after more than these everybody takes a step."""
TURNS: Final = 5
"""Quiet subscriptions that take a step in each round."""
TURN_S: Final = 10.0
"""How long a quiet subscription is left alone at least."""
LATE: Final = timedelta(hours=1)
"""No transaction takes longer: what it wrote bears at most a time so much before its end."""


class Caught(NamedTuple):
    """Up to which horizon a subscription was told everything, by which version of it, for which blocks, and when."""

    xid: int
    version: int
    blocks: tuple[int, ...]
    stepped_at: float


class QuietLook(NamedTuple):
    """What a round found in a cell: its span, and the tenants to which anything happened; None: perhaps to all."""

    since: int
    until: int
    active: frozenset[UUID] | None


class QuietSubscriptions:
    """The memory of one cell."""

    def __init__(self) -> None:
        self._caught: dict[UUID, Caught] = {}
        self._until: int | None = None
        self._looked_at = boottime()

    async def look(self, tx: Tx, blocks: Sequence[int]) -> QuietLook:
        """Read the horizon, and to whom anything happened since the round before."""
        until, since, now = await feeds.horizon(tx), self._until, boottime()
        passed = timedelta(seconds=now - self._looked_at)
        self._until, self._looked_at = until, now
        if since is None or not 0 <= until - since <= WIDEST_SPAN:
            return QuietLook(until, until, None)
        if until == since:
            return QuietLook(since, until, frozenset())
        await feeds.wide(tx)
        active = await feeds.active(tx, (since, until), tx.now - passed - LATE, blocks)
        return QuietLook(since, until, frozenset(active))

    def busy(
        self, look: QuietLook, found: Iterable[Channel], blocks: Sequence[int], hears_all: frozenset[UUID]
    ) -> set[UUID]:
        """The subscriptions that take a step now. Those of the tenants in `hears_all` are told of every tenant."""
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

    def caught_up(self, channel: Channel, blocks: Sequence[int], xid: int | None) -> None:
        """A subscription took a step: it was told everything below `xid`; None: there may be more."""
        if xid is None:
            self._caught.pop(channel.id, None)
        else:
            self._caught[channel.id] = Caught(xid, channel.version, tuple(blocks), boottime())

    def _is_quiet(
        self, caught: Caught, look: QuietLook, channel: Channel, blocks: tuple[int, ...], hears_all: frozenset[UUID]
    ) -> bool:
        if look.active is None or caught.xid < look.since:
            return False
        if (caught.version, caught.blocks) != (channel.version, blocks):
            return False
        return not look.active if channel.tenant_id in hears_all else channel.tenant_id not in look.active

    def _turns(self, steps: set[UUID]) -> list[UUID]:
        """Those of the quiet ones that were left alone for longest."""
        before = boottime() - TURN_S
        waiting = [(one.stepped_at, id_) for id_, one in self._caught.items() if one.stepped_at < before]
        return [id_ for _, id_ in sorted(waiting)[:TURNS] if id_ not in steps]
