"""One attempt to a topic of a broker: its message, and its outcome."""

import asyncio
from typing import Final

import msgspec

from horae.delivery.broker_connections import Lines
from horae.delivery.brokers import Message
from horae.domain.errors import HoraeError, Unavailable
from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import ErrorCode, FailedProbe, Outcome, Retryable, Success
from horae.domain.jobs.jobs import Job
from horae.domain.targets.calls import call_of
from horae.domain.targets.targets import TopicTarget
from horae.domain.traces.contexts import traceparent

ENCODE: Final = msgspec.json.Encoder().encode


async def publish(lines: Lines, ran: Instance, job: Job, target: TopicTarget, *, sampled: bool = True) -> Outcome:
    """Send the call of an attempt; it succeeds when the broker has acknowledged it."""
    try:
        async with asyncio.timeout(target.read_timeout):
            await lines.produce(target.place, [message_of(ran, job, sampled=sampled)])
    except TimeoutError:
        return Retryable(
            ErrorCode.TIMEOUT, f"not acknowledged within {target.read_timeout:g} s; it may have been taken"
        )
    except Unavailable as error:
        return Retryable(ErrorCode.CONNECT, str(error))
    except HoraeError as error:  # this process does not know the broker; another process may
        return FailedProbe(ErrorCode.NO_TARGET, str(error))
    return Success()


def message_of(ran: Instance, job: Job, *, sampled: bool = True) -> Message:
    """Return the call as a message, ordered by its business key or else by its job.

    Its id is made of the idempotency key and the attempt: brokers find duplicates of one attempt by it.
    """
    headers = {
        "content-type": "application/json",
        "idempotency-key": ran.idem_key,
        "horae-attempt": str(ran.attempt),
        "traceparent": traceparent(ran.id, ran.attempt, sampled=sampled),
    }
    key = ran.business_key or public(Prefix.JOB, job.id)
    return Message(f"{ran.idem_key}:{ran.attempt}", key, ENCODE(call_of(ran, job)), headers)
