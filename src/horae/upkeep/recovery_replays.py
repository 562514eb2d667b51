"""The steps of recovery that send things again: events to subscriptions, and dead letters to their targets."""

from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.errors import Contended
from horae.domain.incidents.incidents import (
    EVENTS_REPLAYED,
    MAX_REQUEUED,
    REQUEUED_TAG,
    Incident,
    IncidentEntry,
    RecoveryStep,
)
from horae.domain.instances.dead_letters import DeadLetterMark
from horae.service.instances.replays import ReplayCount
from horae.service.instances.requeues import Place, Requeue, RequeuedPlace, RequeueRound, requeue_by_tag
from horae.store.connections.each_cell import ask_each
from horae.store.events import feeds
from horae.store.incidents import effects, entries
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx

SUBSCRIPTIONS_A_PAGE: Final = 100
FIRST_ID: Final = UUID(int=0)


async def replay_events(store: StoreProtocol, incident: Incident) -> list[str]:
    """Move all subscriptions back by 15 minutes, page by page. Returns the cells that do not answer.

    An event that is sent again has the id it had before, so that receivers know it.
    """

    async def visit(cell: CellProtocol) -> None:
        last = await _last_page(cell, incident)
        while last is not None:
            last = await cell.run(partial(_rewind_page, incident=incident, after=last))

    return (await ask_each(store.cells, visit)).down


async def requeue_dead_letters(store: StoreProtocol, incident: Incident, actor: str) -> RequeueRound:
    """Requeue one page of the dead letters of this incident, and note it in the timeline of each cell."""
    places: dict[Place, RequeuedPlace] = {}
    for entry in await _pages(store, incident, RecoveryStep.REQUEUE):
        tenant_id, _, _ = entry.part.partition(" ")
        mark = DeadLetterMark(datetime.fromisoformat(entry.facts["until"]), UUID(entry.facts["last"]))
        place = (entry.cell, UUID(tenant_id))
        before = places.get(place, RequeuedPlace(mark))
        places[place] = RequeuedPlace(max(before.mark, mark), before.sent + entry.facts["requeued"])
    asked = Requeue(REQUEUED_TAG, MAX_REQUEUED, incident.fault_at - EVENTS_REPLAYED, actor)
    return await requeue_by_tag(store, asked, places, _TimelineJournal(incident))


class _TimelineJournal:
    """Notes requeued pages in the timeline. The part of a page names the tenant and its last dead letter."""

    def __init__(self, incident: Incident) -> None:
        self._incident = incident

    async def note(self, tx: Tx, tenant_id: UUID, done: ReplayCount, mark: DeadLetterMark) -> None:
        """Write a page into the timeline. Raises if another coordinator has done it."""
        facts = {"requeued": done.sent, "refused": done.refused, "until": mark.created_at.isoformat()}
        facts["last"] = str(mark.instance_id)
        part = f"{tenant_id} {mark.instance_id}"
        if not await entries.append(tx, self._incident.id, RecoveryStep.REQUEUE, part, facts):
            raise Contended("another node has replayed these dead letters")


async def _pages(store: StoreProtocol, incident: Incident, step: RecoveryStep) -> list[IncidentEntry]:
    """The pages of a step that were done, in every cell that answers."""

    async def look(cell: CellProtocol) -> list[IncidentEntry]:
        async with cell.statement() as tx:
            return [one for one in await entries.listing(tx, incident.id, cell.name) if one.step is step and one.part]

    return [one for own in (await ask_each(store.cells, look)).found.values() for one in own]


async def _last_page(cell: CellProtocol, incident: Incident) -> UUID | None:
    """The subscription after which the next page begins."""
    async with cell.statement() as tx:
        found = await entries.listing(tx, incident.id, cell.name)
    done = [UUID(one.facts["last"]) for one in found if one.step == RecoveryStep.REPLAY_EVENTS and one.part]
    return max(done, default=FIRST_ID)


async def _rewind_page(tx: Tx, incident: Incident, after: UUID) -> UUID | None:
    """Move a page of subscriptions back. Returns the last of them; None if there are no more.

    The span is counted from the begin of the step, so that it is the same for every coordinator.
    """
    since = incident.changed_at - EVENTS_REPLAYED
    marks = await feeds.transactions_between(tx, since, tx.now)
    page = await effects.rewind_subscriptions(tx, after, marks.since, since, SUBSCRIPTIONS_A_PAGE)
    if page is None:
        return None
    facts = {"subscriptions": page.rewound, "last": str(page.last)}
    if not await entries.append(tx, incident.id, RecoveryStep.REPLAY_EVENTS, str(after), facts):
        raise Contended("another node has sent these events again")
    return page.last
