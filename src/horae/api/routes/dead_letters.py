"""Routes of dead letters: list, replay, discard."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query
from msgspec import UNSET

from horae.api.models.dead_letters import DeadLetterView, ReplayCountsView, ReplayDeadLetters
from horae.api.models.instances import RetryAnswer
from horae.api.models.triage import EditedReplay
from horae.api.pages import Page, Paged
from horae.api.routes.runs import InstanceId
from horae.api.routing import may, router
from horae.domain.ids import LONGEST_ID, Prefix, private, public
from horae.domain.instances.dead_letters import DeadLetterMark, ReplayStatus
from horae.domain.names import LONGEST_NAME
from horae.service.context import Context
from horae.service.instances import dead_letters
from horae.service.jobs import jobs

routes = router("dead letters")
ReplayStatuses = Annotated[
    list[ReplayStatus],
    Query(
        max_length=5, description="Filter on replay statuses. `NEW` and `DEAD_AGAIN` are open: they can be replayed."
    ),
]


@routes.get("/dead-letters")
async def list_dead_letters(
    ctx: Annotated[Context, may("dead_letters.list")],
    paging: Paged,
    job: Annotated[str | None, Query(max_length=LONGEST_NAME, description="Filter on the job: its id or name.")] = None,
    tag: Annotated[str | None, Query(max_length=LONGEST_NAME, description="Filter on the tag.")] = None,
    error_code: Annotated[str | None, Query(max_length=LONGEST_NAME, description="Filter on the error code.")] = None,
    cause: Annotated[str | None, Query(max_length=LONGEST_ID, description="Filter on the failure cause.")] = None,
    status: ReplayStatuses = [],  # noqa: B006 - a query parameter's default
) -> Page[DeadLetterView]:
    """List dead letters, newest first."""
    name = None if job is None else (await jobs.find_by_ref(ctx, job)).name
    before = (
        DeadLetterMark(datetime.fromisoformat(paging.after[0]), UUID(paging.after[1]))
        if paging.after
        else dead_letters.NEWEST
    )
    found = await dead_letters.listing(
        ctx,
        job=name,
        tag=tag,
        error_code=error_code,
        cause_id=None if cause is None else private(Prefix.CAUSE, cause),
        statuses=status,
        before=before,
        limit=paging.take,
    )
    return paging.page(found, DeadLetterView.of, lambda one: [one.created_at.isoformat(), one.instance_id])


@routes.post("/dead-letters/{instance}/replay", status_code=202)
async def replay_dead_letter(
    ctx: Annotated[Context, may("dead_letters.replay")], instance: InstanceId, asked: EditedReplay | None = None
) -> RetryAnswer:
    """Replay a dead letter: a new instance with the same fire time and idempotency key is sent now.

    With a body, it carries the edited payload, and the dead letter keeps that payload.
    """
    payload = UNSET if asked is None else asked.payload
    made = await dead_letters.replay(ctx, private(Prefix.INSTANCE, instance), payload)
    return RetryAnswer(instance_id=public(Prefix.INSTANCE, made))


@routes.post("/dead-letters/replay", status_code=202)
async def replay_dead_letters(
    ctx: Annotated[Context, may("dead_letters.replay_many")], asked: ReplayDeadLetters
) -> ReplayCountsView:
    """Replay many dead letters, oldest first, with lower priority than due instances.

    The replay stops early when the retry budget of the tenant is used up.
    """
    name = None if asked.job is None else (await jobs.find_by_ref(ctx, asked.job)).name
    done = await dead_letters.replay_by(ctx, job=name, tag=asked.tag, error_code=asked.error_code, limit=asked.limit)
    return ReplayCountsView(sent=done.sent, refused=done.refused)


@routes.post("/dead-letters/{instance}/discard", status_code=204)
async def discard_dead_letter(ctx: Annotated[Context, may("dead_letters.discard")], instance: InstanceId) -> None:
    """Discard a dead letter."""
    await dead_letters.discard(ctx, private(Prefix.INSTANCE, instance))
