"""Jobs and attempts without rows."""

from typing import Any
from uuid import UUID

from horae.domain.instances.instances import Instance
from horae.domain.instances.lifecycle import State
from horae.domain.jobs.jobs import Definition, Job, Status
from horae.domain.schedules.triggers import KeyedTrigger, Trigger
from horae.domain.targets.targets import Target
from tests.domain.builders import an_instance

TENANT = UUID(int=2)


def a_job(target: Target, payload: object = None, trigger: Trigger | None = None) -> Job:
    return Job(
        shard=1,
        id=UUID(int=3),
        tenant_id=TENANT,
        name="report",
        version=1,
        status=Status.ACTIVE,
        definition=Definition(trigger=trigger or KeyedTrigger(), target=target, payload=payload),
    )


def an_attempt(attempt: int = 1, **facts: Any) -> Instance:
    return an_instance(State.RUNNING, **({"attempt": attempt, "idem_key": "job:t:42:1"} | facts))
