"""Tasks: one idempotent PUT sets the time of a business key and says what it decided; many at once in a batch."""

from typing import Annotated, Any

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from horae.api import hot
from horae.api.hot import ONCE, documented, said, told
from horae.api.idempotent import OptionalKey
from horae.api.idempotent import told as again
from horae.api.models.tasks import CancelTasks, PutTask, PutTasks, TaskAnswer, TaskItem, TaskItems, TaskView
from horae.api.routing import may, router
from horae.domain.tasks import LONGEST_KEY
from horae.service import task_once, tasks
from horae.service.context import Context
from horae.service.task_batches import Wish, cancel_many, schedule_many

routes = router("tasks")
quick = hot.router("tasks")
TypeRef = Annotated[str, Path(max_length=120, description="The type: a keyed job, or a job that fires once.")]
KeyRef = Annotated[str, Path(max_length=LONGEST_KEY, description="The business key; a slash in it may stay as it is.")]
ONE = {"at": "2026-11-15T09:00:00+08:00", "payload": {"title": "x"}}
MANY = {"tasks": [{"key": "article-42", **ONE}, {"key": "article-43", "version": 7}]}


@quick.put("/tasks/{type}", openapi_extra=documented(TaskItems, PutTasks, example=MANY))
async def put_many(
    ctx: Annotated[Context, may("tasks.put")], type: TypeRef, asked: Annotated[PutTasks, told(PutTasks)]
) -> TaskItems:
    """Set the times of up to 1,000 keys. Each is decided and answered by itself, as if it had come alone."""
    answers = await schedule_many(ctx, type, asked.tasks)
    return TaskItems([TaskItem.of(wish.key, answer) for wish, answer in zip(asked.tasks, answers, strict=True)])


@quick.post("/tasks/{type}/cancel", openapi_extra=documented(TaskItems, CancelTasks))
async def cancel_all(
    ctx: Annotated[Context, may("tasks.cancel")], type: TypeRef, asked: Annotated[CancelTasks, told(CancelTasks)]
) -> TaskItems:
    """Up to 1,000 keys' tasks are no longer wanted. Each is decided and answered by itself."""
    wishes = [Wish(one.key, version=one.version) for one in asked.tasks]
    answers = await cancel_many(ctx, type, wishes)
    return TaskItems([TaskItem.of(wish.key, answer) for wish, answer in zip(wishes, answers, strict=True)])


@quick.put(
    "/tasks/{type}/{key:path}",
    openapi_extra=documented(TaskAnswer, PutTask, example=ONE) | {"parameters": [ONCE]},
)
async def put(
    request: Request,
    ctx: Annotated[Context, may("tasks.put")],
    type: TypeRef,
    key: KeyRef,
    asked: Annotated[PutTask, told(PutTask)],
) -> TaskAnswer | Response:
    """Set the time of a key: created, moved, replaced or ignored, as the answer says. Asking twice changes nothing."""
    facts: dict[str, Any] = {"at": asked.at, "payload": asked.payload, "version": asked.version}
    once = request.headers.get("idempotency-key")
    if once is None:
        return TaskAnswer.of(await tasks.schedule(ctx, type, key, **facts))
    done = await task_once.schedule(ctx, once, type, key, show=TaskAnswer.of, **facts)
    return again(done.answer, 200, replayed=done.replayed)


@routes.get("/tasks/{type}/{key:path}")
async def read(ctx: Annotated[Context, may("tasks.read")], type: TypeRef, key: KeyRef) -> TaskView:
    """What is known about a key, with its ledger of decisions."""
    return TaskView.of(type, key, await tasks.show(ctx, type, key))


@routes.delete("/tasks/{type}/{key:path}", response_model=None, openapi_extra=documented(TaskAnswer))
async def cancel(
    ctx: Annotated[Context, may("tasks.cancel")],
    type: TypeRef,
    key: KeyRef,
    version: Annotated[int | None, Query(description="The version of your own event.")] = None,
    once: OptionalKey = None,
) -> Response:
    """The key's task is no longer wanted. A call in flight is not aborted; its late answer is refused."""
    if once is not None:
        done = await task_once.cancel(ctx, once, type, key, version=version, show=TaskAnswer.of)
        return again(done.answer, 200, replayed=done.replayed)
    return said(TaskAnswer.of(await tasks.cancel(ctx, type, key, version=version)))
