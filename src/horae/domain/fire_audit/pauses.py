"""The audit rows that begin and end pauses and jobs, and the pauses between them."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

import msgspec

from horae.domain.fire_audit.histories import Pause

JOB_CREATED: Final = "job.created"
JOB_PAUSED: Final = "job.paused"
JOB_RESUMED: Final = "job.resumed"
JOB_REMOVED: Final = "job.removed"
TENANT_PAUSED: Final = "tenant.paused"
TENANT_RESUMED: Final = "tenant.resumed"
EVENT_ACTIONS: Final = (JOB_CREATED, JOB_PAUSED, JOB_RESUMED, JOB_REMOVED, TENANT_PAUSED, TENANT_RESUMED)
"""The actions of the audit rows that decide which fires should exist."""


class PauseEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """An audit row that begins or ends a pause or a job. `held_from` is the fire that its cursor was at."""

    at: datetime
    action: str
    paused: bool = False
    held_from: datetime | None = None


def event_of(at: datetime, action: str, detail: Any) -> PauseEvent:
    """Return an audit row without what does not decide a fire."""
    said = detail if isinstance(detail, dict) else {}
    held_from = said.get("held_from")
    return PauseEvent(
        at,
        action,
        paused=bool(said.get("paused")),
        held_from=datetime.fromisoformat(held_from) if isinstance(held_from, str) else None,
    )


def pauses_of(events: Iterable[PauseEvent]) -> Iterator[Pause]:
    """Yield the pauses of a job or a tenant. A job that was created paused has one from its beginning."""
    begun: PauseEvent | None = None
    for event in events:
        if event.action in {JOB_PAUSED, TENANT_PAUSED} or (event.action == JOB_CREATED and event.paused):
            begun = event
        elif event.action in {JOB_RESUMED, TENANT_RESUMED} and begun is not None:
            yield Pause(begun.at, event.at, event.held_from or begun.held_from)
            begun = None
    if begun is not None:
        yield Pause(begun.at, None, begun.held_from)


def removed_at(events: Iterable[PauseEvent]) -> datetime | None:
    """Return when a job was removed; None if it was not."""
    return next((event.at for event in events if event.action == JOB_REMOVED), None)
