"""Task operations under an Idempotency-Key, for callers that may repeat a request long after it was done.

Setting the same time twice changes nothing by itself. But if the task succeeded in between, a type that reopens would
run it again. Idempotency key, decision and answer are written in one transaction, in the shard of the business key.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from horae.service.context import Context
from horae.service.idempotency import IdempotentCall, IdempotentResult, once
from horae.service.identity.bound_keys import find_type
from horae.service.tasks import tasks
from horae.service.tasks.tasks import ScheduleAnswer

Show = Callable[[ScheduleAnswer], object]


async def schedule(
    ctx: Context,
    once_key: str,
    type_name: str,
    key: str,
    *,
    at: datetime | None = None,
    payload: Any = msgspec.UNSET,
    version: int | None = None,
    show: Show = lambda answer: answer.decision,
) -> IdempotentResult:
    """Set the time of a business key, once per Idempotency-Key."""
    said = {} if payload is msgspec.UNSET else {"payload": payload}
    asked = await _idempotent_call(ctx, once_key, "tasks.put", type_name, key, {"at": at, "version": version, **said})
    return await once(
        ctx, asked, lambda ctx: tasks.schedule(ctx, type_name, key, at=at, payload=payload, version=version), show
    )


async def cancel(
    ctx: Context, once_key: str, type_name: str, key: str, *, version: int | None, show: Show
) -> IdempotentResult:
    """Cancel the task of a business key, once per Idempotency-Key."""
    asked = await _idempotent_call(ctx, once_key, "tasks.cancel", type_name, key, {"version": version})
    return await once(ctx, asked, lambda ctx: tasks.cancel(ctx, type_name, key, version=version), show)


async def _idempotent_call(
    ctx: Context, once_key: str, action: str, type_name: str, key: str, body: object
) -> IdempotentCall:
    job = await find_type(ctx, type_name)
    shard = (await tasks.place_of(ctx, job, key)).shard
    return IdempotentCall(once_key, action, f"{type_name}/{key}", shard, body)
