"""Plain values for tests of admission."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from horae.domain.instances.instances import Lane, Priority
from horae.domain.jobs.jobs import Definition, Job, Status
from horae.domain.schedules.timers import Timer
from horae.domain.schedules.triggers import KeyedTrigger
from horae.domain.targets.targets import HttpTarget
from horae.engine.admission.target import DueCall, Target
from tests.domain.builders import NOW

TENANT = UUID(int=2)


class FakeDesk:
    """Takes what is admitted, as long as it is open."""

    def __init__(self) -> None:
        self.has_room = True
        self.accepted: list[DueCall] = []
        self.recorded: list[DueCall] = []
        self.accept = self.accepted.append
        self.record = self.recorded.append


def a_timer(at: datetime = NOW, *, cursor: bool = False, tenant: UUID = TENANT, **facts: Any) -> Timer:
    id_ = facts.pop("id", None) or uuid4()
    base = Timer(1, id_, at, tenant, Priority.NORMAL, Lane.FIRST, uuid4(), 1, 0 if cursor else None)
    return base._replace(**facts)


def a_pushed_job(url: str = "http://x/", **facts: Any) -> Job:
    tenant = facts.pop("tenant", TENANT)
    made = Definition(trigger=KeyedTrigger(), target=facts.pop("target", None) or HttpTarget(url), **facts)
    return Job(shard=1, id=uuid4(), tenant_id=tenant, name="j", version=1, status=Status.ACTIVE, definition=made)


def a_ready(timer: Timer | None = None, target: Target | None = None) -> DueCall:
    return DueCall(timer or a_timer(), a_pushed_job(), FakeDesk(), target or Target())


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)
