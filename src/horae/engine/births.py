"""Rows to be born or told, made from a verdict: what a fire, a skip and a call in flight consist of."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.instances import Instance, Lane
from horae.domain.lifecycle import State
from horae.domain.schedule import Fire as Fires
from horae.domain.timers import Timer
from horae.engine.admission.ready import Ready
from horae.store import cursors
from horae.store.cursors import Fire

MILLISECOND: Final = timedelta(milliseconds=1)
PROMPT: Final = 3.0
"""How long after its birth or claim a call may still be sent: its deadline leaves so much, and a little more."""


SENT: Final = "sent"
"""Stands for the payload of an attempt that was sent: the request has it, and memory keeps it once."""


class Flight(NamedTuple):
    """An attempt on its way: RUNNING in the rows, a slot in hand, to be sent before `until` or handed back."""

    ready: Ready
    ran: Instance
    until: float

    def without_payload(self) -> "Flight":
        """The same without its payload, which may be large; it still says whether there was one."""
        return self._replace(ran=replace(self.ran, payload=SENT))


def fire_row(ready: Ready, verdict: Fires, wake: datetime | None, now: datetime, token: UUID | None = None) -> Fire:
    """A fire to be born: RUNNING with a token, else waiting for its claim."""
    return cursors.fire_row(ready.timer, verdict, wake, now, ready.job.definition.target, token, ready.held_ms)


def in_flight(ready: Ready, fire: Fire, now: datetime) -> Flight:
    """The call of a fire that was born RUNNING."""
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
    return Flight(ready, ran, now.timestamp() + PROMPT)


def next_timer(timer: Timer, wake: datetime, fired: int) -> Timer:
    """Where a cursor goes that has fired so often more."""
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


def timer_of(timer: Timer, fire: Fire) -> Timer:
    """The timer of a fire that was born waiting."""
    return Timer(
        fire.shard, fire.id, fire.due_at, timer.tenant_id, timer.priority, Lane.FIRST, fire.job_id, fire.version
    )
