"""One step of a paced replay, for the process that has claimed it.

1. Count what became of its dead letters, in every cell. A cell that is down has unknown outcomes, so the step waits.
2. Decide (`horae.domain.instances.paced_replays.next_step`).
3. Send a page: the retry budget of the tenant pays for it, and each cell marks in the same transaction which dead
   letters were taken. So a step that is killed and repeated sends none of them twice.
4. Write the new status and counts, unless somebody stopped the replay meanwhile.
"""

from functools import partial
from typing import assert_never

from msgspec.structs import replace

from horae.domain.errors import NotFound, RetryLimited, Unavailable
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.dead_letters import DeadLetter
from horae.domain.instances.paced_replays import (
    EndStep,
    PacedReplay,
    PacedReplayStatus,
    ReplayProgress,
    ReplayStep,
    SendStep,
    WaitStep,
    next_step,
    status_after,
)
from horae.service.audit.audit import record
from horae.service.context import Context
from horae.service.instances.replays import send_as_backfill
from horae.service.limits import retry_budgets
from horae.service.tasks import compensations
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.instances import paced_replays
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import Tx


async def do_step(
    store: StoreProtocol, home: CellProtocol, claimed: PacedReplay, withheld_by: str | None
) -> PacedReplay:
    """Do the next step of a claimed replay. Returns the replay as it was written. `withheld_by` names a measure."""
    try:
        ctx = (await compensations.caller(store, home, claimed.tenant_id))._replace(actor=claimed.created_by)
    except NotFound:
        return await _record(home, claimed, EndStep(PacedReplayStatus.STOPPED, "the tenant is gone"))
    except Unavailable as error:
        return await _record(home, claimed, WaitStep(str(error)))
    counted, down = await _progress(store, claimed)
    if down:
        return await _record(home, claimed, WaitStep(f"{', '.join(down)}, which does not answer"))
    replay = replace(claimed, progress=counted, status=status_after(claimed, counted))
    step = next_step(replay, counted, withheld_by=withheld_by, is_empty=False)
    if isinstance(step, SendStep):
        step = await _send(ctx, replay, step.many)
        after, down = await _progress(store, replay)
        replay = replay if down else replace(replay, progress=after)
    return await _record(home, replay, step)


async def record_failure(home: CellProtocol, claimed: PacedReplay, error: Exception) -> None:
    """Note in a claimed replay that its step has failed. The next claim tries it again."""
    await _record(home, claimed, WaitStep(f"a step that failed ({type(error).__name__}); it is tried again"))


async def _progress(store: StoreProtocol, replay: PacedReplay) -> tuple[ReplayProgress, list[str]]:
    look = partial(ask_by_statement, lambda tx: paced_replays.progress(tx, replay))
    found, down = await ask_each(store.cells, look)
    total = ReplayProgress()
    for here in found.values():
        total = total.plus(here)
    return total, down


async def _send(ctx: Context, replay: PacedReplay, many: int) -> ReplayStep:
    """Send up to so many dead letters. Returns what the step was."""
    taken = 0
    for cell in ctx.store.cells:
        left = many - taken
        page = await _take(cell, replay, left) if left else []
        if not page:
            continue
        try:
            await retry_budgets.spend(ctx, len(page))
        except RetryLimited:
            return SendStep(taken) if taken else WaitStep("the retry budget of the tenant")
        taken += await cell.run(partial(_send_page, ctx, replay, len(page)))
    if not taken:
        return next_step(replay, replay.progress, withheld_by=None, is_empty=True)
    return SendStep(taken)


async def _take(cell: CellProtocol, replay: PacedReplay, limit: int) -> list[DeadLetter]:
    async with cell.statement() as tx:
        return await paced_replays.take(tx, replay, limit)


async def _send_page(ctx: Context, replay: PacedReplay, limit: int, tx: Tx) -> int:
    page = await paced_replays.take(tx, replay, limit)
    if not page:
        return 0
    sent = await send_as_backfill(ctx, tx, page)
    await paced_replays.mark_taken(tx, replay, page, sent)
    if sent:
        dead_letters = [public(Prefix.INSTANCE, id_) for id_ in sent]
        detail = {"paced_replay": public(Prefix.PACED_REPLAY, replay.id), "letters": dead_letters}
        await record(ctx, tx, "dead_letter.replayed", shard_in(next(iter(sent))), "dead_letters", detail)
    return len(page)


async def _record(home: CellProtocol, replay: PacedReplay, step: ReplayStep) -> PacedReplay:
    def after(tx: Tx) -> PacedReplay:
        match step:
            case SendStep():
                return replace(replay, waits_for=None)
            case WaitStep(reason):
                return replace(replay, waits_for=reason[:500])
            case EndStep(status, reason):
                return replace(replay, status=status, ended_at=tx.now, ended_because=reason, waits_for=None)
        assert_never(step)

    async def work(tx: Tx) -> PacedReplay:
        written = after(tx)
        await paced_replays.record(tx, written)
        return written

    return await home.run(work)
