"""What was given up on: list, replay, discard."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query

from horae.api.models.dead_letters import LetterView, ReplayedView, Replays
from horae.api.models.instances import Retried
from horae.api.pages import Page, Paged
from horae.api.routes.runs import InstanceId
from horae.api.routing import may, router
from horae.domain.dead_letters import Mark, ReplayStatus
from horae.domain.ids import Prefix, private, public
from horae.service import dead_letters, jobs
from horae.service.context import Context

routes = router("dead letters")
Word = Annotated[str | None, Query(max_length=120)]


@routes.get("/dead-letters")
async def given_up(
    ctx: Annotated[Context, may("dead_letters.list")],
    paging: Paged,
    job: Word = None,
    tag: Word = None,
    error_code: Word = None,
    status: ReplayStatus | None = None,
) -> Page[LetterView]:
    """The tenant's dead letters, newest first; `job` is an id or a name."""
    name = None if job is None else (await jobs.named(ctx, job)).name
    before = (
        Mark(datetime.fromisoformat(paging.after[0]), UUID(paging.after[1])) if paging.after else dead_letters.NEWEST
    )
    found = await dead_letters.listing(
        ctx, job=name, tag=tag, error_code=error_code, status=status, before=before, limit=paging.take
    )
    return paging.page(found, LetterView.of, lambda one: [one.created_at.isoformat(), one.instance_id])


@routes.post("/dead-letters/{instance}/replay", status_code=202)
async def replay(ctx: Annotated[Context, may("dead_letters.replay")], instance: InstanceId) -> Retried:
    """Send one letter again, now: a new instance with the same fire time and idempotency key."""
    made = await dead_letters.replay(ctx, private(Prefix.INSTANCE, instance))
    return Retried(instance_id=public(Prefix.INSTANCE, made))


@routes.post("/dead-letters/replay", status_code=202)
async def replay_many(ctx: Annotated[Context, may("dead_letters.replay_many")], asked: Replays) -> ReplayedView:
    """Send many letters again, oldest first, behind what is due; it ends early where the tenant's budget does."""
    name = None if asked.job is None else (await jobs.named(ctx, asked.job)).name
    done = await dead_letters.replay_by(ctx, job=name, tag=asked.tag, error_code=asked.error_code, limit=asked.limit)
    return ReplayedView(sent=done.sent, refused=done.refused)


@routes.post("/dead-letters/{instance}/discard", status_code=204)
async def discard(ctx: Annotated[Context, may("dead_letters.discard")], instance: InstanceId) -> None:
    """Give one letter up for good."""
    await dead_letters.discard(ctx, private(Prefix.INSTANCE, instance))
