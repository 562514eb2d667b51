"""Jobs and attempts without rows."""

from typing import Any
from uuid import UUID

from horae.domain.instances import Instance
from horae.domain.jobs import Definition, Job, Status
from horae.domain.lifecycle import State
from horae.domain.targets import Target
from horae.domain.triggers import KeyedTrigger
from tests.domain.builders import an_instance

TENANT = UUID(int=2)


def a_job(target: Target, payload: object = None) -> Job:
    return Job(
        shard=1,
        id=UUID(int=3),
        tenant_id=TENANT,
        name="report",
        version=1,
        status=Status.ACTIVE,
        definition=Definition(trigger=KeyedTrigger(), target=target, payload=payload),
    )


def an_attempt(attempt: int = 1, **facts: Any) -> Instance:
    return an_instance(State.RUNNING, **({"attempt": attempt, "idem_key": "job:t:42:1"} | facts))
