"""What a target is told about one attempt: the body it receives, and what its templates may name."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import asdict

from horae.domain.ids import Prefix, public
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.tokens import completion


class Call(msgspec.Struct, frozen=True):
    """One attempt, as a target hears of it."""

    job: str
    instance: str
    fire_time: datetime
    attempt: int
    idempotency_key: str
    key: str | None = None
    payload: object = None


def call_of(ran: Instance, job: Job) -> Call:
    """The call of an attempt. A payload of its own wins over its job's."""
    payload = job.definition.payload if ran.payload is None else ran.payload
    instance = public(Prefix.INSTANCE, ran.id)
    return Call(job.name, instance, ran.fire_time, ran.attempt, ran.idem_key, ran.business_key, payload)


def batched(ran: Instance, job: Job) -> dict[str, Any]:
    """The call of an attempt in a request that carries several: it has a completion token of its own."""
    return {**asdict(call_of(ran, job)), "completion_token": completion_of(ran)}


def completion_of(ran: Instance) -> str | None:
    """With what a target answers later for this attempt; None where nobody could take the answer."""
    return None if ran.token is None else completion(ran.id, ran.attempt, ran.token)
