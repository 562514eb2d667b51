"""Idempotency-Key: the stored response again, or the work and its response in one transaction."""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Annotated, Any, Final, NamedTuple, TypeVar
from uuid import UUID

from fastapi import Header
from pydantic import BaseModel
from starlette.responses import JSONResponse

from horae.domain.instances.idempotency_keys import LONGEST_IDEMPOTENCY_KEY
from horae.service.context import Context
from horae.service.idempotency import IdempotentCall, bind_key, once

Result = TypeVar("Result")
REPLAYED: Final = "Idempotency-Replayed"
KEY_DESCRIPTION: Final = (
    "A key identifies one request of a tenant with this method and path. The request is performed once, and repeated "
    "requests get the same response for 24 hours. Another body with the same key is refused with `SCH_409_DUPLICATE`."
)
_key = Header(
    alias="Idempotency-Key",
    min_length=1,
    max_length=LONGEST_IDEMPOTENCY_KEY,
    pattern=r"^[\x20-\x7e]+$",
    description=KEY_DESCRIPTION,
)
OptionalKey = Annotated[str | None, _key]
RequiredKey = Annotated[str, _key]


class IdempotentRequest(NamedTuple):
    """A request with its action, resource, shard and body, and the status of the response.

    `named_by_body`: the body names the resource, not the path.
    """

    action: str
    resource: str
    shard: int
    body: BaseModel | None = None
    status: int = 200
    named_by_body: bool = False


async def answer_once(
    ctx: Context,
    key: str | None,
    wish: IdempotentRequest,
    verb: Callable[[Context], Awaitable[Result]],
    show: Callable[[Result], BaseModel],
    *,
    instance: Callable[[Result], UUID | None] = lambda _result: None,
) -> Any:
    """Perform a request once per key, or without a key. `verb` must do its work in one transaction of the shard."""
    if key is None:
        return show(await verb(ctx))
    body = None if wish.body is None else wish.body.model_dump(mode="json", exclude_unset=True)
    asked = IdempotentCall(key, wish.action, wish.resource, wish.shard, body)
    async with bind_key(ctx, wish.action, key, body) if wish.named_by_body else nullcontext():
        done = await once(ctx, asked, verb, lambda result: show(result).model_dump(mode="json"), instance=instance)
    return json_response(done.answer, wish.status, replayed=done.replayed)


def json_response(answer: Any, status: int, *, replayed: bool) -> JSONResponse:
    """Returns the response, with a header if it is a stored one."""
    return JSONResponse(answer, status, headers={REPLAYED: "true"} if replayed else None)
