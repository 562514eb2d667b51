"""The call of an attempt: the body that a target receives, and the values that templates may name."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import asdict

from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Instance
from horae.domain.jobs.jobs import Job
from horae.domain.schedules.expected import previous_fire
from horae.domain.workers.completion_tokens import completion_token


class Call(msgspec.Struct, frozen=True):
    """One attempt as its target receives it."""

    job: str
    instance: str
    fire_time: datetime
    attempt: int
    idempotency_key: str
    key: str | None = None
    payload: object = None


class ScheduledCall(Call, frozen=True):
    """A call for templates that name the fire before it. What is sent by itself is the plain call."""

    previous_fire_time: datetime | None = None


def call_of(ran: Instance, job: Job) -> Call:
    """Return the call of an attempt. The instance's own payload takes precedence over its job's."""
    payload = job.definition.payload if ran.payload is None else ran.payload
    instance = public(Prefix.INSTANCE, ran.id)
    return Call(job.name, instance, ran.fire_time, ran.attempt, ran.idem_key, ran.business_key, payload)


def scheduled_call_of(ran: Instance, job: Job) -> ScheduledCall:
    """Return the call of an attempt with the fire before it by its job's trigger; None for the first or only one."""
    previous = previous_fire(job.definition.trigger, ran.fire_time)
    return ScheduledCall(**asdict(call_of(ran, job)), previous_fire_time=previous)


def batch_call_of(ran: Instance, job: Job) -> dict[str, Any]:
    """Return the call of an attempt inside a batch, with its own completion token."""
    return {**asdict(call_of(ran, job)), "completion_token": completion_of(ran)}


def completion_of(ran: Instance) -> str | None:
    """Return the completion token of an attempt; None where the instance has no token."""
    return None if ran.token is None else completion_token(ran.id, ran.attempt, ran.token)
