"""Idempotency-Key at the door: the stored answer again, or the work and its answer in one transaction."""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Annotated, Any, Final, NamedTuple, TypeVar
from uuid import UUID

from fastapi import Header
from pydantic import BaseModel
from starlette.responses import JSONResponse

from horae.service.context import Context
from horae.service.once import LONGEST_KEY, Asked, bound, once

Result = TypeVar("Result")
REPLAYED: Final = "Idempotency-Replayed"
KEY_DESCRIPTION: Final = (
    "One key stands for one request of a tenant with this method and path, whatever its body says: it is done once, "
    "and answered the same for 24 hours. Another body under the same key is refused with `SCH_409_DUPLICATE`."
)
_key = Header(
    alias="Idempotency-Key",
    min_length=1,
    max_length=LONGEST_KEY,
    pattern=r"^[\x20-\x7e]+$",
    description=KEY_DESCRIPTION,
)
OptionalKey = Annotated[str | None, _key]
RequiredKey = Annotated[str, _key]


class Wish(NamedTuple):
    """What is asked for: the action, the resource it is about with its shard, the body, the status of the answer.

    `named_by_body`: the path does not tell the resource, the body does.
    """

    action: str
    resource: str
    shard: int
    body: BaseModel | None = None
    status: int = 200
    named_by_body: bool = False


async def answered(
    ctx: Context,
    key: str | None,
    wish: Wish,
    verb: Callable[[Context], Awaitable[Result]],
    show: Callable[[Result], BaseModel],
    *,
    instance: Callable[[Result], UUID | None] = lambda _result: None,
) -> Any:
    """Do the wish once per key; without a key, do it. `verb` must do its work in one transaction of the shard."""
    if key is None:
        return show(await verb(ctx))
    body = None if wish.body is None else wish.body.model_dump(mode="json", exclude_unset=True)
    asked = Asked(key, wish.action, wish.resource, wish.shard, body)
    async with bound(ctx, wish.action, key, body) if wish.named_by_body else nullcontext():
        done = await once(ctx, asked, verb, lambda result: show(result).model_dump(mode="json"), instance=instance)
    return told(done.answer, wish.status, replayed=done.replayed)


def told(answer: Any, status: int, *, replayed: bool) -> JSONResponse:
    """An answer, marked where it is the stored one again."""
    return JSONResponse(answer, status, headers={REPLAYED: "true"} if replayed else None)
