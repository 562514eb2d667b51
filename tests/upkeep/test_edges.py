"""A job starts after another one has ended: once for each end, whatever breaks, and never for another tenant."""

import asyncio
from datetime import timedelta

import pytest

from horae.domain.errors import CountReached, Invalid
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import Success
from horae.domain.jobs.edges import After, EndKind
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import KeyedTrigger, ManualTrigger
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.workers import FailureReport, Finish
from horae.runtime import setbacks
from horae.service.context import Context, PlatformContext
from horae.service.instances import instances
from horae.service.jobs import edges, jobs
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.service.workers import workers
from horae.store.jobs import edges as rows
from horae.upkeep.copies import Copier
from horae.upkeep.edges import EdgeFollower
from tests.steps import query

DEAD = FailureReport("no", retryable=False)
ROUNDS = 100
"""Rounds in which an edge comes to its end at the latest, also on a server with many transactions of other tests."""


async def a_job(ctx, name, *, after=None, keyed=False):
    trigger = KeyedTrigger() if keyed else ManualTrigger()
    wanted = Definition(trigger=trigger, target=QueueTarget(name), after=None if after is None else After(*after))
    return await jobs.create(ctx, name, wanted)


async def names_in_both_cells(ctx, store):
    """A name of a job in the first cell, and one in the second."""
    found = {store.cell(ctx.tenant.shard(f"job-{n}")).name: f"job-{n}" for n in range(50)}
    return [found[cell.name] for cell in store.cells]


async def run(ctx, name, said=Success(), key=None):  # noqa: B008
    """Fire a job by hand and end it; returns the instance."""
    fired = await instances.trigger(ctx, name, key or f"run-{name}", even_if_down=True)
    await end(ctx, name, said)
    return fired.instance_id


async def end(ctx, name, said=Success()):  # noqa: B008
    claimed = await workers.claim(ctx, name, "w")
    await workers.finish(ctx, [Finish(one.instance_id, one.attempt, one.token, said) for one in claimed])
    return claimed


async def drain(follower):
    while await follower.once() or follower._going:
        pass


@pytest.fixture(autouse=True)
async def tenant_is_known(ctx, store):
    """In both cells."""
    await Copier(store).once()


@pytest.fixture
async def follower(store):
    made = EdgeFollower(store, store.shards_of)
    yield made
    await made.close()


def anew(store):
    return EdgeFollower(store, store.shards_of)


async def live(store, name):
    said = "select l.* from instance_live l join job j on j.id = l.job_id where j.name = $1"
    return await query(store, said, name)


@pytest.mark.parametrize(
    ("on", "said", "starts"),
    [
        (EndKind.SUCCEEDED, Success(), 1),
        (EndKind.SUCCEEDED, DEAD, 0),
        (EndKind.FAILED, Success(), 0),
        (EndKind.FAILED, DEAD, 1),
        (EndKind.ENDED, Success(), 1),
        (EndKind.ENDED, DEAD, 1),
    ],
)
async def test_a_job_in_another_cell_starts_with_the_fire_time_of_the_one_that_ended(
    ctx, store, follower, on, said, starts
):
    load, report = await names_in_both_cells(ctx, store)
    await a_job(ctx, load)
    await a_job(ctx, report, after=(load, on))
    ended = await run(ctx, load, said)
    await drain(follower)
    found = await live(store, report)
    assert len(found) == starts
    [past] = await query(store, "select fire_time from instance_history where id = $1", ended)
    assert all(row["fire_time"] == past["fire_time"] and row["due_at"] >= past["fire_time"] for row in found)
    progress = await edges.progress(ctx, await jobs.find(ctx, report))
    assert (progress.started, progress.error) == (starts, None)


async def test_followed_again_after_a_kill_an_end_starts_nothing_a_second_time(ctx, store, monkeypatch):
    """Killed between the start and the acknowledgement, and two nodes at once."""
    await a_job(ctx, "LOAD")
    await a_job(ctx, "REPORT", after=("LOAD",))
    await a_job(ctx, "AUDIT", keyed=True)
    await a_job(ctx, "PUBLISH", after=("AUDIT",), keyed=True)
    await Copier(store).once()
    await tasks.schedule(ctx, "AUDIT", "a-1", version=1)
    await run(ctx, "LOAD")
    await end(ctx, "AUDIT")

    move = rows.move

    async def killed(*told, has_started, **facts):
        if has_started:  # other tests on the same server may have left many transactions to read before
            raise RuntimeError("killed")
        return await move(*told, has_started=has_started, **facts)

    with monkeypatch.context() as patched:
        patched.setattr(rows, "move", killed)
        first = anew(store)
        await drain(first)
    assert len(await live(store, "REPORT")) == 1
    [publication] = await end(ctx, "PUBLISH")
    two, three = anew(store), anew(store)
    await asyncio.gather(drain(two), drain(three))
    await drain(anew(store))
    assert len(await live(store, "REPORT")) == 1
    assert await live(store, "PUBLISH") == []
    assert [one["decision"] for one in (await tasks.show(ctx, "PUBLISH", "a-1")).decisions] == ["created"]
    assert publication.key == "a-1"


async def test_each_end_starts_one_instance_in_pages(ctx, store, follower, monkeypatch):
    monkeypatch.setattr("horae.upkeep.edges.PAGE", 3)
    await a_job(ctx, "LOAD")
    await a_job(ctx, "REPORT", after=("LOAD",))
    for number in range(10):
        await run(ctx, "LOAD", key=f"run-{number}")
    await drain(follower)
    assert len(await live(store, "REPORT")) == 10


async def test_a_task_starts_with_the_key_and_version_of_the_task_that_ended(ctx, store, follower):
    await a_job(ctx, "AUDIT", keyed=True)
    await a_job(ctx, "PUBLISH", after=("AUDIT",), keyed=True)
    await Copier(store).once()
    for number in range(20):
        await tasks.schedule(ctx, "AUDIT", f"a-{number}", version=number + 1)
    assert len({store.cell(shard_in(one.instance_id)).name for one in await end(ctx, "AUDIT")}) == 2
    await drain(follower)
    for number in range(20):
        known = (await tasks.show(ctx, "PUBLISH", f"a-{number}")).known
        assert (known.live.intent_version, known.live.state) == (number + 1, State.INIT)
        assert known.live.due_at <= ctx.now(known.live.shard)


async def test_a_newer_wish_for_the_task_is_not_overwritten_by_an_end_before_it(ctx, store, follower):
    """The author moved the publication while the end of the audit was still to be followed."""
    await a_job(ctx, "AUDIT", keyed=True)
    await a_job(ctx, "PUBLISH", after=("AUDIT",), keyed=True)
    await Copier(store).once()
    await tasks.schedule(ctx, "AUDIT", "a-1", version=1)
    await end(ctx, "AUDIT")
    later = ctx.now() + timedelta(hours=1)
    assert (await tasks.schedule(ctx, "AUDIT", "a-1", at=later, version=2)).reason == "succeeded"
    await tasks.schedule(ctx, "PUBLISH", "a-1", at=later, version=2)
    await drain(follower)
    shown = await tasks.show(ctx, "PUBLISH", "a-1")
    assert (shown.known.live.due_at, shown.decisions[-1]["reason"]) == (later, "stale")


async def test_an_end_before_a_newer_instance_of_its_key_has_the_version_before_it(ctx, store, follower):
    await a_job(ctx, "AUDIT", keyed=True)
    await a_job(ctx, "ALARM", after=("AUDIT", EndKind.FAILED), keyed=True)
    await Copier(store).once()
    await tasks.schedule(ctx, "AUDIT", "a-1", version=1)
    await end(ctx, "AUDIT", DEAD)
    await tasks.schedule(ctx, "AUDIT", "a-1", version=5)
    await drain(follower)
    assert (await tasks.show(ctx, "ALARM", "a-1")).known.live.intent_version == 4
    await end(ctx, "AUDIT", DEAD)
    await drain(follower)
    assert (await tasks.show(ctx, "ALARM", "a-1")).known.live.intent_version == 5


async def test_only_ends_since_the_edge_was_made_start_something(ctx, store, follower):
    await a_job(ctx, "LOAD")
    await run(ctx, "LOAD", key="before")
    await a_job(ctx, "REPORT", after=("LOAD",))
    await run(ctx, "LOAD", key="since")  # before any node has read the edge
    await drain(follower)
    assert len(await live(store, "REPORT")) == 1


async def test_an_edge_that_was_taken_away_and_made_again_starts_nothing_for_the_time_between(ctx, store):
    await a_job(ctx, "LOAD")
    first = await a_job(ctx, "REPORT", after=("LOAD",))
    await drain(anew(store))
    plain = Definition(trigger=ManualTrigger(), target=QueueTarget("REPORT"))
    await schedules.update(ctx, "REPORT", plain)
    await run(ctx, "LOAD", key="between")
    await drain(anew(store))
    again = await schedules.update(ctx, "REPORT", _after(plain, "LOAD"))
    await drain(anew(store))
    assert await live(store, "REPORT") == []
    assert again.definition.after.edge_id != first.definition.after.edge_id
    await run(ctx, "LOAD", key="after")
    await drain(anew(store))
    assert len(await live(store, "REPORT")) == 1
    kept = await schedules.label(ctx, "REPORT", {"team": "data"})
    assert kept.definition.after == again.definition.after
    ids = {row["channel_id"] for row in await query(store, "select distinct channel_id from feed_position")}
    assert ids == {again.definition.after.edge_id}


def _after(definition, job, on=EndKind.SUCCEEDED):
    from msgspec.structs import replace

    return replace(definition, after=After(job, on))


async def test_what_is_refused_for_good_leaves_an_event_and_a_reason_and_holds_nothing_back(ctx, store, follower):
    await a_job(ctx, "LOAD")
    await a_job(ctx, "REPORT", after=("LOAD",))
    await a_job(ctx, "MAIL", after=("LOAD",))
    await jobs.pause(ctx, "REPORT")
    ended = public(Prefix.INSTANCE, await run(ctx, "LOAD"))
    await drain(follower)
    assert len(await live(store, "MAIL")) == 1
    [refused] = await query(store, "select body from outbox where event = 'JOB_START_REFUSED'")
    facts = {name: refused["body"][name] for name in ("name", "after", "ended", "code")}
    assert facts == {"name": "REPORT", "after": "LOAD", "ended": ended, "code": "SCH_409_CONFLICT"}
    progress = await edges.progress(ctx, await jobs.find(ctx, "REPORT"))
    assert progress.error.startswith(f"refused for {ended}: SCH_409_CONFLICT")
    await jobs.resume(ctx, "REPORT")
    await run(ctx, "LOAD", key="second")
    await drain(follower)
    assert len(await live(store, "REPORT")) == 1
    assert (await edges.progress(ctx, await jobs.find(ctx, "REPORT"))).error is None


async def test_a_job_that_is_removed_before_it_could_start_leaves_an_event(ctx, store, follower):
    await a_job(ctx, "LOAD")
    await a_job(ctx, "REPORT", after=("LOAD",))
    await drain(follower)
    await run(ctx, "LOAD")
    await jobs.remove(ctx, "REPORT")  # the node still remembers the edge
    await drain(follower)
    [refused] = await query(store, "select body from outbox where event = 'JOB_START_REFUSED'")
    assert refused["body"]["code"] == "SCH_404_NOT_FOUND"


async def test_what_cannot_start_now_waits_with_its_reason_and_holds_back_only_itself(
    ctx, store, follower, monkeypatch
):
    from horae.domain.errors import Unavailable
    from horae.service.jobs import starts

    await a_job(ctx, "LOAD")
    await a_job(ctx, "REPORT", after=("LOAD",))
    await a_job(ctx, "MAIL", after=("LOAD",))
    await run(ctx, "LOAD")
    start = starts.start

    async def away(ctx, edge, one):
        if edge.name == "REPORT":
            raise Unavailable("the cell is away")
        await start(ctx, edge, one)

    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 0.0)
    with monkeypatch.context() as patched:
        patched.setattr(starts, "start", away)
        for _ in range(ROUNDS):
            await follower.once()
            progress = await edges.progress(ctx, await jobs.find(ctx, "REPORT"))
            if progress.error and await live(store, "MAIL"):
                break
    assert len(await live(store, "MAIL")) == 1
    assert (progress.started, progress.error) == (0, "the cell is away")
    await drain(follower)
    assert len(await live(store, "REPORT")) == 1
    assert (await edges.progress(ctx, await jobs.find(ctx, "REPORT"))).error is None


async def test_when_the_other_job_is_removed_nothing_starts_until_one_of_its_name_is_made(ctx, store, follower):
    await a_job(ctx, "LOAD")
    await a_job(ctx, "REPORT", after=("LOAD",))
    await drain(follower)
    await jobs.remove(ctx, "LOAD")
    progress = await edges.progress(ctx, await jobs.find(ctx, "REPORT"))
    assert progress.error == "there is no job 'LOAD' to start after"
    await schedules.label(ctx, "REPORT", {"team": "data"})  # the job can still be changed
    await drain(follower)
    await a_job(ctx, "LOAD")
    await run(ctx, "LOAD")
    await drain(follower)
    assert len(await live(store, "REPORT")) == 1


async def test_another_tenant_with_the_same_names_starts_nothing(ctx, store, follower):
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other", width=4096), "test")
    await a_job(ctx, "LOAD")
    await a_job(ctx, "REPORT", after=("LOAD",))
    await a_job(other, "LOAD")
    await a_job(other, "REPORT")
    await run(other, "LOAD")
    await drain(follower)
    assert await live(store, "REPORT") == []
    await a_job(other, "SECRET")
    with pytest.raises(Invalid, match="there is no job 'SECRET'"):
        await a_job(ctx, "SPY", after=("SECRET",))


async def test_edges_that_cannot_work_are_refused_when_they_are_written(ctx, store, monkeypatch):
    await a_job(ctx, "LOAD")
    await a_job(ctx, "TYPE", keyed=True)
    with pytest.raises(Invalid, match="there is no job 'NOBODY'"):
        await a_job(ctx, "A", after=("NOBODY",))
    with pytest.raises(Invalid, match="after itself"):
        await a_job(ctx, "A", after=("A",))
    with pytest.raises(Invalid, match="whose instances have keys"):
        await a_job(ctx, "A", after=("LOAD",), keyed=True)
    await a_job(ctx, "B", after=("LOAD",))
    await a_job(ctx, "C", after=("B",))
    plain = Definition(trigger=ManualTrigger(), target=QueueTarget("LOAD"))
    with pytest.raises(Invalid, match="LOAD → B → C → LOAD"):
        await schedules.update(ctx, "LOAD", _after(plain, "C"))
    await a_job(ctx, "EACH", after=("TYPE",))  # one instance for each task that ends
    monkeypatch.setattr("horae.domain.jobs.edges.MOST_EDGES", 3)
    with pytest.raises(CountReached):
        await a_job(ctx, "D", after=("LOAD",))


async def test_a_circle_that_two_requests_closed_at_once_starts_nothing(ctx, store, follower, monkeypatch):
    await a_job(ctx, "A")
    await a_job(ctx, "B", after=("A",))

    async def unseen(*_):
        return {}

    with monkeypatch.context() as patched:
        patched.setattr(rows, "of_tenant", unseen)
        await schedules.update(ctx, "A", _after(Definition(trigger=ManualTrigger(), target=QueueTarget("A")), "B"))
    await run(ctx, "A")
    await drain(follower)
    assert await live(store, "B") == []
    progress = await edges.progress(ctx, await jobs.find(ctx, "B"))
    assert progress.error == "jobs start each other without end, so none is started: B → A → B"
