"""Tasks under an Idempotency-Key: for callers that say a thing again although it may have been done long ago.

Saying a time twice changes nothing by itself, but where the task was done in between a type that reopens would do it
again. Key, decision and answer are written in one transaction of the business key's shard.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from horae.service import tasks
from horae.service.context import Context
from horae.service.once import Asked, Done, once
from horae.service.tasks import Answer

Show = Callable[[Answer], object]


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
) -> Done:
    """Set the time of a key, once under this key of the caller's."""
    said = {} if payload is msgspec.UNSET else {"payload": payload}
    asked = await _asked(ctx, once_key, "tasks.put", type_name, key, {"at": at, "version": version, **said})
    return await once(
        ctx, asked, lambda ctx: tasks.schedule(ctx, type_name, key, at=at, payload=payload, version=version), show
    )


async def cancel(ctx: Context, once_key: str, type_name: str, key: str, *, version: int | None, show: Show) -> Done:
    """The key's task is no longer wanted; said once under this key of the caller's."""
    asked = await _asked(ctx, once_key, "tasks.cancel", type_name, key, {"version": version})
    return await once(ctx, asked, lambda ctx: tasks.cancel(ctx, type_name, key, version=version), show)


async def _asked(ctx: Context, once_key: str, action: str, type_name: str, key: str, body: object) -> Asked:
    job = await ctx.types.find(ctx.tenant, type_name)
    shard = (await tasks.place_of(ctx, job, key)).shard
    return Asked(once_key, action, f"{type_name}/{key}", shard, body)
