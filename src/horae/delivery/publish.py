"""One attempt to a broker's topic: what is said, and what its answer means."""

import asyncio
from typing import Final

import msgspec

from horae.delivery.brokers import Message
from horae.delivery.lines import Lines
from horae.domain.calls import call_of
from horae.domain.errors import HoraeError, Unavailable
from horae.domain.ids import Prefix, public
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.outcomes import ErrorCode, Outcome, Probed, Retryable, Success
from horae.domain.targets import TopicTarget
from horae.domain.tokens import traceparent
from horae.runtime.chance import span

ENCODE: Final = msgspec.json.Encoder().encode


async def publish(lines: Lines, ran: Instance, job: Job, target: TopicTarget) -> Outcome:
    """Send the call of an attempt; it has succeeded when the broker has it."""
    try:
        async with asyncio.timeout(target.read_timeout):
            await lines.produce(target.place, [message_of(ran, job)])
    except TimeoutError:
        return Retryable(
            ErrorCode.TIMEOUT, f"not acknowledged within {target.read_timeout:g} s; it may have been taken"
        )
    except Unavailable as error:
        return Retryable(ErrorCode.CONNECT, str(error))
    except HoraeError as error:  # this process does not know the broker: another, or the next, may
        return Probed(ErrorCode.NO_TARGET, str(error))
    return Success()


def message_of(ran: Instance, job: Job) -> Message:
    """The call as a message: ordered by its business key, else by its job; told apart by its idempotency key."""
    headers = {
        "content-type": "application/json",
        "idempotency-key": ran.idem_key,
        "horae-attempt": str(ran.attempt),
        "traceparent": traceparent(ran.id, span()),
    }
    key = ran.business_key or public(Prefix.JOB, job.id)
    return Message(f"{ran.idem_key}:{ran.attempt}", key, ENCODE(call_of(ran, job)), headers)
