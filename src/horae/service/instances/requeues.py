"""Requeues dead letters of all tenants by their tag, in turns and at a pace.

A requeue is a replay by the platform: it keeps fire time and idempotency key, uses the backfill lane, and takes nothing
from the retry budgets of tenants. Recovery uses it after an incident.

1. Tenants take turns, so that one with many dead letters does not use up the limit.
2. A page of one tenant in one cell is one transaction, and the journal writes into it how far the tenant is. So a
   requeue that is killed goes on there, and a dead letter that dies again is not requeued twice.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from horae.domain.errors import NotFound, Unavailable
from horae.domain.instances.dead_letters import DeadLetterFilter, DeadLetterMark
from horae.runtime.telemetry import log
from horae.service.instances.replays import PAGE, ReplayCount, replay_page
from horae.service.tasks import compensations
from horae.store.connections.each_cell import UNSERVED_OR_MOVING, ask_by_statement, ask_each
from horae.store.incidents import effects
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx

MAX_TENANTS: Final = 1000
"""Tenants of a cell that one round looks at."""
FIRST_ID: Final = UUID(int=0)
Place = tuple[str, UUID]
"""A cell and a tenant."""


class Requeue(NamedTuple):
    """Which dead letters are requeued, how many at most, and who asked for it."""

    tag: str
    limit: int
    created_since: datetime
    actor: str


class RequeuedPlace(NamedTuple):
    """How far a tenant is in a cell, and how many of its dead letters were requeued there."""

    mark: DeadLetterMark
    sent: int = 0


class RequeueJournal(Protocol):
    """Remembers how far a requeue is."""

    async def note(self, tx: Tx, tenant_id: UUID, done: ReplayCount, mark: DeadLetterMark) -> None:
        """Write what a page has done into its transaction. Raises if that page was done before."""


class RequeueRound(NamedTuple):
    """What one round has done. `is_last`: nothing is left, or the limit is reached. `down`: silent cells."""

    done: ReplayCount
    is_last: bool
    down: list[str]


async def requeue_by_tag(
    store: StoreProtocol, asked: Requeue, places: Mapping[Place, RequeuedPlace], journal: RequeueJournal
) -> RequeueRound:
    """Requeue at most one page of dead letters, shared by the tenants that have some. Call it until it is the last."""
    left = min(PAGE, asked.limit - sum(place.sent for place in places.values()))
    look = partial(
        effects.tenants_with_dead_letters, tag=asked.tag, created_since=asked.created_since, limit=MAX_TENANTS
    )
    found, down = await ask_each(store.cells, partial(ask_by_statement, look))
    owners = [(cell, tenant_id) for cell, tenant_ids in found.items() for tenant_id in tenant_ids]
    owners.sort(key=lambda one: places[one[0].name, one[1]].sent if (one[0].name, one[1]) in places else 0)
    share, sent, refused, moved = max(1, left // max(1, len(owners))), 0, 0, False
    failed: Exception | None = None
    for cell, tenant_id in owners:
        if sent >= left:
            break
        place = places.get((cell.name, tenant_id))
        after = DeadLetterMark(asked.created_since, FIRST_ID) if place is None else place.mark
        try:
            page = await _replay(store, cell, tenant_id, asked, after, min(share, left - sent), journal)
        except UNSERVED_OR_MOVING as error:
            failed, reason = error, str(error) or type(error).__name__
            log.warning("requeue.postponed", tenant=tenant_id, cell=cell.name, reason=reason)
            continue
        if page is not None:
            sent, refused, moved = sent + page.sent, refused + page.refused, True
    if failed is not None and not moved:
        raise failed  # nobody else has anything left: the caller waits, and does not take it for the end
    return RequeueRound(ReplayCount(sent, refused), not moved, down)


async def _replay(
    store: StoreProtocol,
    cell: CellProtocol,
    tenant_id: UUID,
    asked: Requeue,
    after: DeadLetterMark,
    limit: int,
    journal: RequeueJournal,
) -> ReplayCount | None:
    """Replay a page of one tenant; None if it has none there, or is gone."""
    try:
        ctx = await compensations.caller(store, cell, tenant_id)
    except (NotFound, Unavailable):
        return None

    async def note(tx: Tx, done: ReplayCount, mark: DeadLetterMark) -> None:
        await journal.note(tx, tenant_id, done, mark)

    wanted = DeadLetterFilter(tag=asked.tag)
    done, mark = await replay_page(ctx._replace(actor=asked.actor), cell, wanted, after, limit, note)
    return None if mark is None else done
