"""Results and progress: stored with the outcome, encrypted, and shown to those who may read payloads."""

import msgspec
import pytest

from horae.domain.encryption.encrypted_values import result_of
from horae.domain.errors import Invalid, NotFound
from horae.domain.ids import shard_in
from horae.domain.instances.outcomes import DeclinedCall, Success
from horae.domain.instances.results import AttemptProgress
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.workers import FailureReport, Finish, Heartbeat
from horae.service.context import Context, PlatformContext
from horae.service.instances import results, searches
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.service.workers import workers
from horae.store.instances import results as rows
from horae.upkeep.copies import Copier
from tests.keyring import sealed
from tests.steps import a_type, query

SECRET = "a very private answer"


@pytest.fixture
async def queue(ctx, store):
    await a_type(ctx, "MAIL", target=QueueTarget("mail", claim_seconds=30))
    await Copier(store).once()


async def claimed(ctx, many=1, name=""):
    for n in range(many):
        await tasks.schedule(ctx, "MAIL", f"{name}{n}")
    return await workers.claim(ctx, "mail", "w")


def finish(one, said=Success(), **more):  # noqa: B008
    return Finish(one.instance_id, one.attempt, one.token, said, **more)


async def test_a_result_is_read_as_it_was_returned(ctx, store, queue):
    one, two, three = await claimed(ctx, 3)
    answers = await workers.finish(
        ctx, [finish(one, result={"sent": 3}), finish(two), finish(three, DeclinedCall("no"), result=[1, None])]
    )
    assert {answer.verdict for answer in answers} == {"done"}
    assert (await results.find(ctx, one.instance_id)).value == {"sent": 3}
    assert (await results.find(ctx, three.instance_id)).value == [1, None]
    with pytest.raises(NotFound):
        await results.find(ctx, two.instance_id)
    ended = {row["id"]: row["ended_at"] for row in await query(store, "select id, ended_at from instance_history")}
    for row in await query(store, "select instance_id, ended_at from instance_result"):
        assert ended[row["instance_id"]] == row["ended_at"]


async def test_a_late_or_failed_attempt_stores_no_result(ctx, store, queue):
    [one] = await claimed(ctx)
    first, second = finish(one, result="first"), finish(one, result="second")
    assert [answer.verdict for answer in await workers.finish(ctx, [first, second])] == ["done", "late"]
    assert (await results.find(ctx, one.instance_id)).value == "first"
    [two] = await claimed(ctx, name="other")
    await workers.finish(ctx, [finish(two, FailureReport("busy"), result="lost")])
    with pytest.raises(NotFound):
        await results.find(ctx, two.instance_id)
    assert len(await query(store, "select * from instance_result")) == 1


async def test_results_and_progress_are_encrypted_at_rest(ctx, store, queue):
    closed = Context.of(sealed(store), ctx.tenant, "test")
    one, two = await claimed(closed, 2)
    await workers.heartbeat(closed, [Heartbeat(two.instance_id, 1, two.token, 30, AttemptProgress(5, SECRET))])
    await workers.finish(closed, [finish(one, result={"secret": SECRET})])
    stored = await query(store, "select body::text as body from instance_result")
    stored += await query(store, "select progress::text as body from instance_live")
    assert len(stored) == 2
    assert not any(SECRET in row["body"] for row in stored)
    assert (await results.find(closed, one.instance_id)).value == {"secret": SECRET}
    assert (await searches.find(closed, two.instance_id)).progress["text"] == SECRET


async def test_the_last_progress_is_shown_until_the_attempt_ends(ctx, store, queue):
    [one] = await claimed(ctx)
    assert (await searches.find(ctx, one.instance_id)).progress is None
    for percent in (10, 40):
        [answer] = await workers.heartbeat(
            ctx, [Heartbeat(one.instance_id, 1, one.token, 30, AttemptProgress(percent, f"at {percent}"))]
        )
        assert answer.yours
    shown = (await searches.find(ctx, one.instance_id)).progress
    assert (shown["percent"], shown["text"]) == (40, "at 40")
    await workers.heartbeat(ctx, [Heartbeat(one.instance_id, 1, one.token)])
    assert (await searches.find(ctx, one.instance_id)).progress == shown
    await workers.finish(ctx, [finish(one, FailureReport("busy"))])
    assert (await searches.find(ctx, one.instance_id)).progress is None


async def test_a_progress_is_bounded():
    for percent, text in ((-1, ""), (101, ""), (float("nan"), ""), (5, "x" * 201), (5, "two\nlines")):
        with pytest.raises(Invalid):
            AttemptProgress(percent, text)
    assert msgspec.to_builtins(AttemptProgress(5, "x" * 200))["percent"] == 5


async def test_another_tenant_reads_no_result(ctx, store, queue):
    [one] = await claimed(ctx)
    await workers.finish(ctx, [finish(one, result=SECRET)])
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=16), "test")
    with pytest.raises(NotFound):
        await results.find(other, one.instance_id)


async def test_results_of_many_instances_of_a_shard_are_read_at_once(ctx, store, queue):
    taken = await claimed(ctx, 20)
    await workers.finish(ctx, [finish(one, result=number) for number, one in enumerate(taken)])
    found = {}
    for shard in {shard_in(one.instance_id) for one in taken}:
        ids = [one.instance_id for one in taken if shard_in(one.instance_id) == shard]
        async with store.statement(shard) as tx:
            stored = await rows.of_instances(tx, ctx.tenant.id, shard, ids)
        for id_, body in stored.items():
            found[id_] = await store.cipher.decrypt(ctx.tenant.id, result_of(id_), body)
    assert found == {one.instance_id: number for number, one in enumerate(taken)}
