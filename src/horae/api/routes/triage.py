"""Routes of dead-letter triage: failure causes, changes to many dead letters, paced replays."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query

from horae.api.idempotent import IdempotentRequest, OptionalKey, answer_once
from horae.api.models.triage import (
    ChangedDeadLettersView,
    DeadLettersWanted,
    DiscardDeadLetters,
    FailureCauseDetail,
    FailureCausePage,
    FailureCauseView,
    NewPacedReplay,
    PacedReplayView,
    TagDeadLetters,
)
from horae.api.pages import Page, Paged
from horae.api.routing import Asking, may, router
from horae.domain.ids import LONGEST_ID, Prefix, private, shard_in
from horae.domain.instances.dead_letters import DeadLetterFilter
from horae.domain.names import LONGEST_NAME
from horae.service.context import Context
from horae.service.instances import bulk_dead_letters, failure_causes, paced_replays
from horae.service.jobs import jobs

routes = router("dead letters")
CauseId = Annotated[str, Path(max_length=LONGEST_ID, examples=["cau_01hv3zq5k8e9r7t2m4n6p8s0v1"])]
ReplayId = Annotated[str, Path(max_length=LONGEST_ID, examples=["prp_01hv3zq5k8e9r7t2m4n6p8s0v1"])]


@routes.get("/failure-causes")
async def list_failure_causes(
    ctx: Annotated[Context, may("failure_causes.list")],
    paging: Paged,
    job: Annotated[str | None, Query(max_length=LONGEST_NAME, description="Filter on the job: its id or name.")] = None,
) -> FailureCausePage:
    """List why dead letters died: by job, error code and normalised message, those with most dead letters first."""
    name = None if job is None else (await jobs.find_by_ref(ctx, job)).name
    found = await failure_causes.listing(ctx, name)
    begin = int(paging.after or 0)
    listed = found.causes[begin : begin + paging.limit]
    end = begin + len(listed)
    page = paging.page_of([FailureCauseView.of(one) for one in listed], end if end < len(found.causes) else None)
    return FailureCausePage(**dict(page), unsorted=found.unsorted, is_complete=found.is_complete)


@routes.get("/failure-causes/{cause}")
async def get_failure_cause(
    ctx: Annotated[Context, may("failure_causes.read")], asking: Asking, cause: CauseId
) -> FailureCauseDetail:
    """Get a failure cause with samples, and what changed since they died. Payloads need `payloads.read`."""
    detail = await failure_causes.show(ctx, private(Prefix.CAUSE, cause))
    return FailureCauseDetail.whole(detail, payloads=asking.may("payloads.read"))


@routes.post("/dead-letters/discard")
async def discard_dead_letters(
    ctx: Annotated[Context, may("dead_letters.discard_many")], asked: DiscardDeadLetters
) -> ChangedDeadLettersView:
    """Discard many dead letters for good, with a reason."""
    done = await bulk_dead_letters.discard_by(ctx, await _wanted(ctx, asked), asked.limit, asked.reason)
    return ChangedDeadLettersView.of(done)


@routes.post("/dead-letters/tag")
async def tag_dead_letters(
    ctx: Annotated[Context, may("dead_letters.tag")], asked: TagDeadLetters
) -> ChangedDeadLettersView:
    """Add tags to many dead letters, and remove others. A filter on a tag finds them."""
    wanted = await _wanted(ctx, asked)
    return ChangedDeadLettersView.of(
        await bulk_dead_letters.tag_by(ctx, wanted, asked.limit, added=asked.add, removed=asked.remove)
    )


@routes.post("/paced-replays", status_code=202, response_model=PacedReplayView)
async def start_paced_replay(
    ctx: Annotated[Context, may("paced_replays.start")], asked: NewPacedReplay, key: OptionalKey = None
) -> Any:
    """Replay many dead letters at a pace, oldest first, behind due instances; a canary may go first."""
    wanted = await _wanted(ctx, asked)
    wish = IdempotentRequest("paced_replays.start", "paced-replays", paced_replays.shard_of(ctx), asked, 202)

    async def verb(ctx: Context) -> paced_replays.PacedReplay:
        return await paced_replays.start(
            ctx,
            wanted,
            limit=asked.limit,
            pace=asked.pace,
            canary=asked.canary,
            max_failures=asked.max_failures,
        )

    return await answer_once(ctx, key, wish, verb, PacedReplayView.of)


@routes.get("/paced-replays")
async def list_paced_replays(
    ctx: Annotated[Context, may("paced_replays.list")], paging: Paged
) -> Page[PacedReplayView]:
    """List the paced replays of the tenant, newest first."""
    before = UUID(paging.after) if paging.after else paced_replays.LAST_ID
    found = await paced_replays.listing(ctx, before=before, limit=paging.take)
    return paging.page(found, PacedReplayView.of, lambda one: one.id)


@routes.get("/paced-replays/{replay}")
async def get_paced_replay(ctx: Annotated[Context, may("paced_replays.read")], replay: ReplayId) -> PacedReplayView:
    """Get the progress of a paced replay."""
    return PacedReplayView.of(await paced_replays.show(ctx, private(Prefix.PACED_REPLAY, replay)))


@routes.post("/paced-replays/{replay}/stop", response_model=PacedReplayView)
async def stop_paced_replay(
    ctx: Annotated[Context, may("paced_replays.stop")], replay: ReplayId, key: OptionalKey = None
) -> Any:
    """Stop a paced replay: no more dead letters are sent. Instances that it has made go on."""
    id_ = private(Prefix.PACED_REPLAY, replay)
    wish = IdempotentRequest("paced_replays.stop", replay, shard_in(id_))
    return await answer_once(ctx, key, wish, lambda ctx: paced_replays.stop(ctx, id_), PacedReplayView.of)


async def _wanted(ctx: Context, asked: DeadLettersWanted) -> DeadLetterFilter:
    job_id = None if asked.job is None else (await jobs.find_by_ref(ctx, asked.job)).id
    cause_id = None if asked.cause is None else private(Prefix.CAUSE, asked.cause)
    return DeadLetterFilter(job_id, asked.tag, asked.error_code, cause_id)
