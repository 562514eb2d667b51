"""Routes of tasks. An idempotent PUT sets the time of a business key and returns the decision."""

from typing import Annotated, Any

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from horae.api import hot
from horae.api.hot import ONCE, document_of, json_body, response_of
from horae.api.idempotent import OptionalKey, json_response
from horae.api.models.tasks import CancelTasks, PutTask, PutTasks, TaskAnswer, TaskResult, TaskResults, TaskView
from horae.api.routing import may, router
from horae.domain.names import LONGEST_NAME
from horae.domain.tasks.tasks import LONGEST_KEY
from horae.service.context import Context
from horae.service.tasks import gathered, idempotent, tasks
from horae.service.tasks.batches import TaskIntent, cancel_many, schedule_many

routes = router("tasks")
quick = hot.router("tasks")
TypeRef = Annotated[
    str, Path(max_length=LONGEST_NAME, description="The task type: a keyed job, or a job that fires once.")
]
KeyRef = Annotated[str, Path(max_length=LONGEST_KEY, description="The business key. It may contain slashes.")]
ONE = {"at": "2026-11-15T09:00:00+08:00", "payload": {"title": "x"}}
MANY = {"tasks": [{"key": "article-42", **ONE}, {"key": "article-43", "version": 7}]}


@quick.put("/tasks/{type}", openapi_extra=document_of(TaskResults, PutTasks, example=MANY))
async def put_tasks(
    ctx: Annotated[Context, may("tasks.put")], type: TypeRef, asked: Annotated[PutTasks, json_body(PutTasks)]
) -> TaskResults:
    """Set the times of up to 1,000 business keys, with a result for each."""
    answers = await schedule_many(ctx, type, asked.tasks)
    return TaskResults([TaskResult.of(wish.key, answer) for wish, answer in zip(asked.tasks, answers, strict=True)])


@quick.post("/tasks/{type}/cancel", openapi_extra=document_of(TaskResults, CancelTasks))
async def cancel_tasks(
    ctx: Annotated[Context, may("tasks.cancel")], type: TypeRef, asked: Annotated[CancelTasks, json_body(CancelTasks)]
) -> TaskResults:
    """Cancel the tasks of up to 1,000 business keys, with a result for each."""
    wishes = [TaskIntent(one.key, version=one.version) for one in asked.tasks]
    answers = await cancel_many(ctx, type, wishes)
    return TaskResults([TaskResult.of(wish.key, answer) for wish, answer in zip(wishes, answers, strict=True)])


@quick.put(
    "/tasks/{type}/{key:path}",
    openapi_extra=document_of(TaskAnswer, PutTask, example=ONE) | {"parameters": [ONCE]},
)
async def put_task(
    request: Request,
    ctx: Annotated[Context, may("tasks.put")],
    type: TypeRef,
    key: KeyRef,
    asked: Annotated[PutTask, json_body(PutTask)],
) -> TaskAnswer | Response:
    """Set the time of a business key. The task is created, moved, replaced or ignored. The request may be repeated."""
    facts: dict[str, Any] = {"at": asked.at, "payload": asked.payload, "version": asked.version}
    once = request.headers.get("idempotency-key")
    if once is None:
        return TaskAnswer.of(await gathered.schedule(ctx, type, key, **facts))
    done = await idempotent.schedule(ctx, once, type, key, show=TaskAnswer.of, **facts)
    return json_response(done.answer, 200, replayed=done.replayed)


@routes.get("/tasks/{type}/{key:path}")
async def get_task(ctx: Annotated[Context, may("tasks.read")], type: TypeRef, key: KeyRef) -> TaskView:
    """Get a task with its ledger of decisions."""
    return TaskView.of(type, key, await tasks.show(ctx, type, key))


@routes.delete("/tasks/{type}/{key:path}", response_model=None, openapi_extra=document_of(TaskAnswer))
async def cancel_task(
    ctx: Annotated[Context, may("tasks.cancel")],
    type: TypeRef,
    key: KeyRef,
    version: Annotated[int | None, Query(description="The version of your event.")] = None,
    once: OptionalKey = None,
) -> Response:
    """Cancel the task of a business key. A call in flight is not aborted; its late answer is refused."""
    if once is not None:
        done = await idempotent.cancel(ctx, once, type, key, version=version, show=TaskAnswer.of)
        return json_response(done.answer, 200, replayed=done.replayed)
    return response_of(TaskAnswer.of(await tasks.cancel(ctx, type, key, version=version)))
