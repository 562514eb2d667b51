"""Reads what decides the fires of jobs, and what became of them."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Final, TypeVar
from uuid import UUID

from horae.domain.errors import Unavailable
from horae.domain.fire_audit.histories import JobHistory, RecordedFire
from horae.domain.fire_audit.pauses import PauseEvent, event_of, pauses_of, removed_at
from horae.domain.fire_audit.plain import FireTimes
from horae.domain.fire_audit.rules import UNREADABLE, Rule, StoredVersion, rules_of
from horae.domain.ids import Prefix, public
from horae.runtime.telemetry import log
from horae.store.audit import fires
from horae.store.audit.fires import JobRow
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx

Result = TypeVar("Result")
ENDS_BEFORE: Final = timedelta(days=1, hours=1)
"""How long before its fire time a row may have ended: an excluded day is skipped when it begins."""


class CellAnswers:
    """Asks all cells. An audit with a cell left out may find faults that are none: `down` names the cells left out.

    `needs_all`: a cell that does not answer is an error.
    """

    def __init__(self, cells: Sequence[CellProtocol], *, needs_all: bool = True) -> None:
        self.cells = cells
        self.down: set[str] = set()
        self._needs_all = needs_all

    async def ask(self, look: Callable[[Tx], Awaitable[Result]]) -> list[Result]:
        """What every cell answers that can be reached."""
        asked = await ask_each(self.cells, partial(ask_by_statement, look))
        if asked.down and self._needs_all:
            raise Unavailable(f"an audit needs every cell, and {', '.join(asked.down)} does not answer")
        self.down.update(asked.down)
        return list(asked.found.values())


async def read_histories(
    answers: CellAnswers, cell: CellProtocol, page: Sequence[JobRow], since: datetime, until: datetime
) -> list[JobHistory]:
    """What decides the fires of a page of jobs of one cell, as it is stored now."""
    read_at = cell.clock.now()
    async with cell.statement() as tx:
        versions = await fires.versions(tx, page)
        backfills = await fires.backfills(tx, [job.id for job in page], since, until)
        rules = {job.id: _rules(job, versions.get(job.id, [])) for job in page}
        uses = {
            (job.tenant_id, use.calendar) for job in page for rule in rules[job.id] for use in rule.policies.calendars
        }
        calendars = await fires.calendars(tx, uses)
    resources = {public(Prefix.TENANT, job.tenant_id) for job in page} | {public(Prefix.JOB, job.id) for job in page}
    events = await _events(answers, resources)
    days_of = {job.tenant_id: {name: one for (owner, name), one in calendars.items() if owner == job.tenant_id}
               for job in page}  # fmt: skip
    tenant_pauses = {
        tenant_id: tuple(pauses_of(events.get(public(Prefix.TENANT, tenant_id), ()))) for tenant_id in days_of
    }
    found = []
    for job in page:
        own = events.get(public(Prefix.JOB, job.id), ())
        found.append(
            JobHistory(
                id=job.id,
                tenant_id=job.tenant_id,
                name=job.name,
                status=job.status,
                rules=rules[job.id],
                read_at=read_at,
                removed_at=removed_at(own),
                cursor=job.cursor,
                cursor_version=job.cursor_version,
                may_be_withheld=bool(job.may_be_withheld),
                pauses=tuple(pauses_of(own)),
                tenant_pauses=tenant_pauses[job.tenant_id],
                calendars=days_of[job.tenant_id],
                backfills=backfills.get(job.id, ()),
            )
        )
    return found


async def read_rows(
    answers: CellAnswers, ids: Sequence[UUID], since: datetime, until: datetime
) -> dict[UUID, list[RecordedFire]]:
    """The rows of jobs from all cells: history stays where it was written when a shard moves."""
    look = partial(fires.rows, job_ids=ids, since=since, until=until, ended_since=since - ENDS_BEFORE)
    return _joined(await answers.ask(look) if ids else [])


async def read_fire_times(
    answers: CellAnswers, ids: Sequence[UUID], since: datetime, until: datetime
) -> dict[UUID, list[FireTimes]]:
    """The rows of jobs from all cells as lists of times."""
    look = partial(fires.fire_times, job_ids=ids, since=since, until=until, ended_since=since - ENDS_BEFORE)
    return _joined(await answers.ask(look) if ids else [])


def _joined(read: Sequence[Mapping[UUID, list[Result]]]) -> dict[UUID, list[Result]]:
    found: defaultdict[UUID, list[Result]] = defaultdict(list)
    for here in read:
        for job_id, rows in here.items():
            found[job_id] += rows
    return found


def _rules(job: JobRow, versions: Sequence[StoredVersion]) -> list[Rule]:
    """The rules of a job; none where a newer release wrote one of them."""
    try:
        return rules_of(str(job.id), versions)
    except UNREADABLE as error:
        log.warning("audit.rule_unreadable", job=job.id, reason=str(error))
        return []


async def _events(answers: CellAnswers, resources: Collection[str]) -> dict[str, list[PauseEvent]]:
    """The pauses and ends of jobs and tenants, by resource, oldest first. A moved job left earlier ones elsewhere."""
    found: defaultdict[str, list[PauseEvent]] = defaultdict(list)
    read = await answers.ask(partial(fires.events, resources=resources))
    for event in sorted(chain.from_iterable(read), key=lambda event: event.at):
        found[event.resource].append(event_of(event.at, event.action, event.detail))
    return found
