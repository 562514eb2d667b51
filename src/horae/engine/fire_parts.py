"""Builds the parts of a fire: its row, its call in flight, its timer, and the next timer of its cursor."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.instances.instances import Instance, Lane
from horae.domain.instances.lifecycle import State
from horae.domain.schedules import FireVerdict as Fires
from horae.domain.schedules.timers import Timer
from horae.engine.admission.target import DueCall
from horae.store.schedules import cursors
from horae.store.schedules.cursors import FireRow

MILLISECOND: Final = timedelta(milliseconds=1)
MAX_SEND_DELAY_S: Final = 3.0
"""Seconds after its insert or claim within which a call may be sent. The deadline of the row leaves room for this."""


SENT: Final = "sent"
"""Replaces the payload of an attempt that was sent: the request has the payload, so memory keeps it only once."""


class Flight(NamedTuple):
    """An attempt that is RUNNING in its row and holds a slot. It is sent before `until` (Unix time) or given back."""

    ready: DueCall
    ran: Instance
    until: float

    @property
    def deadline(self) -> float:
        """The time (Unix time) from which its row may be rescued."""
        return self.until if self.ran.deadline is None else self.ran.deadline.timestamp()

    def without_payload(self) -> "Flight":
        """The same flight without its payload, which may be large. It still shows whether there was one."""
        return self._replace(ran=replace(self.ran, payload=SENT))


def fire_row(
    ready: DueCall, verdict: Fires, wake: datetime | None, now: datetime, token: UUID | None = None
) -> FireRow:
    """The row of a fire: RUNNING if it has a token, otherwise waiting for its claim."""
    return cursors.fire_row(ready.timer, verdict, wake, now, ready.job.definition.target, token, ready.held_ms)


def flight_of(ready: DueCall, fire: FireRow, now: datetime) -> Flight:
    """The flight of a fire that was inserted as RUNNING."""
    timer = ready.timer
    ran = Instance(
        shard=fire.shard,
        id=fire.id,
        tenant_id=timer.tenant_id,
        job_id=fire.job_id,
        job_version=fire.version,
        idem_key=fire.idem_key,
        fire_time=fire.fire_time,
        due_at=fire.due_at,
        state=State.RUNNING,
        priority=timer.priority,
        attempt=1,
        held_ms=fire.held_ms,
        token=fire.token,
        deadline=now + fire.slot_ms * MILLISECOND,
    )
    return Flight(ready, ran, now.timestamp() + MAX_SEND_DELAY_S)


def next_timer(timer: Timer, wake: datetime, fired: int) -> Timer:
    """The timer of a cursor at its next time, after `fired` more fires."""
    assert timer.fired is not None
    return Timer(
        timer.shard,
        timer.id,
        wake,
        timer.tenant_id,
        timer.priority,
        Lane.FIRST,
        timer.id,
        timer.version,
        timer.fired + fired,
    )


def timer_of(timer: Timer, fire: FireRow) -> Timer:
    """The timer of a fire that was inserted as waiting."""
    return Timer(
        fire.shard, fire.id, fire.due_at, timer.tenant_id, timer.priority, Lane.FIRST, fire.job_id, fire.version
    )
