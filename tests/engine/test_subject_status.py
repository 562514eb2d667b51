"""The status and the time of the last change of each subject, and lists by status and by batch."""

from horae.domain.instances.outcomes import ErrorCode, Unrecoverable
from horae.domain.rolling.rolling import SubjectFilter, SubjectStatus
from horae.service.rolling import subjects
from tests.engine.test_rolling import a_set, finish_all, listed, roll
from tests.steps import move_clock, query

FAILED = Unrecoverable(ErrorCode.HANDLER, "the shelf is empty")


async def of_status(ctx, made, status, after="", limit=1000, **facts):
    wanted = SubjectFilter(status=status, **facts)
    return [one.key for one in await subjects.page(ctx, made, after, limit, wanted)]


async def test_a_subject_goes_through_the_four_statuses_and_every_change_has_its_time(ctx, store):
    made = await a_set(ctx, store)
    await subjects.add(ctx, made, ["good"], at_once=True)
    [new] = (await listed(ctx, made)).values()
    assert (new.status, new.updated_at, new.batch_no) == (SubjectStatus.NEVER_RUN, new.added_at, None)
    await roll(store)
    running = (await listed(ctx, made))["good"]
    assert (running.status, running.finished_at, running.updated_at) == (1, None, running.started_at)
    assert running.batch_no is not None
    await finish_all(store)
    await roll(store)
    done = (await listed(ctx, made))["good"]
    assert (done.status, done.batch_no, done.finished_at) == (2, running.batch_no, done.last_success_at)
    assert done.updated_at >= done.finished_at > running.updated_at
    await move_clock(store, seconds=700)
    await roll(store)
    assert (await listed(ctx, made))["good"].status == SubjectStatus.RUNNING
    await finish_all(store, FAILED)
    await roll(store)
    failed = (await listed(ctx, made))["good"]
    assert (failed.status, failed.last_success_at) == (3, done.last_success_at)
    assert failed.batch_no not in {None, done.batch_no}
    assert failed.updated_at >= failed.finished_at > done.updated_at


async def test_lists_by_status_and_by_batch_have_pages_over_all_cells(ctx, store):
    made = await a_set(ctx, store)
    keys = [f"p-{n:02}" for n in range(40)]
    await subjects.add(ctx, made, keys, at_once=True)
    assert await of_status(ctx, made, SubjectStatus.NEVER_RUN) == keys
    await roll(store)
    assert await of_status(ctx, made, SubjectStatus.RUNNING) == keys
    assert await of_status(ctx, made, SubjectStatus.NEVER_RUN) == []
    await finish_all(store, FAILED)
    await subjects.add(ctx, made, ["later"])
    await roll(store)
    first = await of_status(ctx, made, SubjectStatus.FAILED, limit=25)
    rest = await of_status(ctx, made, SubjectStatus.FAILED, after=first[-1], limit=25)
    assert (first, rest) == (keys[:25], keys[25:])
    assert await of_status(ctx, made, SubjectStatus.FAILED, prefix="p-1") == keys[10:20]
    assert await of_status(ctx, made, SubjectStatus.SUCCEEDED) == []
    batches = {one.batch_no for one in (await listed(ctx, made)).values() if one.batch_no}
    found = [key for batch in batches for key in await of_status(ctx, made, None, batch_no=batch)]
    assert sorted(found) == keys
    for batch in batches:
        assert await of_status(ctx, made, SubjectStatus.SUCCEEDED, batch_no=batch) == []


async def test_rows_of_an_older_release_have_a_status_and_a_time_too(ctx, store):
    """It does not know `updated_at`: what it wrote later counts."""
    made = await a_set(ctx, store)
    await subjects.add(ctx, made, ["good"], at_once=True)
    await roll(store)
    await finish_all(store)
    await roll(store)
    await query(store, "update subject set updated_at = null")
    old = (await listed(ctx, made))["good"]
    assert (old.status, old.updated_at) == (2, old.finished_at)
    await query(store, "update subject set updated_at = finished_at - interval '1 hour'")
    assert (await listed(ctx, made))["good"].updated_at == old.finished_at
