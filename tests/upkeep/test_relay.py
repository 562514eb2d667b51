"""What the ends of attempts ask for becomes tasks: once, whatever fails in between, if the end was written."""

import asyncio

import asyncpg
import pytest

from horae.domain.errors import Invalid
from horae.domain.ids import shard_in
from horae.domain.instances.outcomes import Success
from horae.domain.targets.targets import QueueTarget
from horae.domain.tasks.compensations import Compensation, check
from horae.domain.tasks.tasks import AfterSuccess
from horae.domain.workers.workers import FailureReport, Finish
from horae.runtime import setbacks
from horae.service.tasks import compensations, tasks
from horae.service.workers import workers
from horae.store.tasks import relays
from horae.upkeep.copies import Copier
from horae.upkeep.relay import Relay
from tests.steps import a_type, query

EVENTS = "select event, body from outbox where event like 'COMPENSATION%' order by event"


@pytest.fixture
async def claimed(ctx, store):
    """Three payments in a worker's hands; a refund that was done may be asked for anew."""
    await a_type(ctx, "PAY", target=QueueTarget("pay"))
    await a_type(ctx, "REFUND", target=QueueTarget("refund"), after_success=AfterSuccess.REOPEN)
    await Copier(store).once()
    for n in range(3):
        await tasks.schedule(ctx, "PAY", f"order-{n}")
    return await workers.claim(ctx, "pay", "w")


def relay_of(store):
    return Relay(store, store.shards_of)


def asking(one, *asked, said=Success()):  # noqa: B008
    return Finish(one.instance_id, one.attempt, one.token, said, [Compensation(*pair) for pair in asked])


async def decisions(ctx, key):
    return [one["decision"] for one in (await tasks.show(ctx, "REFUND", key)).decisions]


async def test_seed_002_example_11_a_task_is_made_of_what_an_end_asked_for(ctx, store, claimed):
    one, two, three = claimed
    asked = Compensation("REFUND", "r-2", payload={"amount": 5}, version=7)
    report = Finish(two.instance_id, two.attempt, two.token, FailureReport("no", retryable=False), [asked])
    await workers.finish(ctx, [asking(one, ("REFUND", "r-0"), ("REFUND", "r-1")), report, asking(three)])
    assert await relay_of(store).once() == 3
    for key in ("r-0", "r-1", "r-2"):
        assert await decisions(ctx, key) == ["created"]
    known = (await tasks.show(ctx, "REFUND", "r-2")).known
    assert (known.live.payload, known.ledger.intent_version) == ({"amount": 5}, 7)


async def test_a_report_that_comes_too_late_leaves_none(ctx, store, claimed):
    await workers.finish(ctx, [asking(claimed[0])])
    await workers.finish(ctx, [asking(claimed[0], ("REFUND", "late"))])
    assert await query(store, EVENTS) == []
    assert await relay_of(store).once() == 0


async def test_relayed_again_it_changes_nothing_even_after_it_was_done(ctx, store, claimed, monkeypatch):
    """As after a kill between the task and the position, and by two relays at once."""
    await workers.finish(ctx, [asking(claimed[0], ("REFUND", "r-0"))])

    async def killed(*_):
        raise asyncio.CancelledError

    with monkeypatch.context() as patched:
        patched.setattr(relays, "move", killed)
        with pytest.raises(asyncio.CancelledError):
            await relay_of(store).once()
    [refund] = await workers.claim(ctx, "refund", "w")
    await workers.finish(ctx, [asking(refund)])
    relay, other = relay_of(store), relay_of(store)
    await asyncio.gather(relay.once(), other.once())
    assert await decisions(ctx, "r-0") == ["created"]
    assert await workers.claim(ctx, "refund", "w") == []
    assert [await relay.once(), await other.once(), await relay_of(store).once()] == [0, 0, 0]


async def test_what_is_committed_late_is_not_passed_over(ctx, store, claimed):
    """A transaction that began first and ends last: a position by number would have lost its event."""
    shard = shard_in(claimed[0].instance_id)
    cell = store.cell(shard)
    early = await asyncpg.connect(cell.dsn)
    relay = relay_of(store)
    try:
        transaction = early.transaction()
        await transaction.start()
        await early.execute(
            "insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body) "
            "values ($1, $2, $3, $3, $4, 'COMPENSATION_ASKED', $5)",
            cell.clock.now(), shard, ctx.tenant.id, claimed[0].instance_id,
            '{"number": 0, "type": "REFUND", "key": "early"}',
        )  # fmt: skip
        here = [one for one in claimed if store.cell(shard_in(one.instance_id)) is cell]
        await workers.finish(ctx, [asking(one, ("REFUND", "after")) for one in here])
        await relay.once()
        assert await query(store, "select from task_key where business_key in ('early', 'after')") == []
        await transaction.commit()
        assert await relay.once() == 1 + len(here)
    finally:
        await early.close()
    assert await decisions(ctx, "early") == ["created"]
    assert (await decisions(ctx, "after"))[0] == "created"


async def test_what_can_never_be_made_leaves_an_event_and_holds_nobody_back(ctx, store, claimed):
    await workers.finish(ctx, [asking(claimed[0], ("NO_SUCH_TYPE", "x"), ("REFUND", "r-0"))])
    assert await relay_of(store).once() == 2
    assert await decisions(ctx, "r-0") == ["created"]
    refused = [row["body"] for row in await query(store, EVENTS) if row["event"] == "COMPENSATION_REFUSED"]
    assert [(body["type"], body["code"]) for body in refused] == [("NO_SUCH_TYPE", "SCH_404_NOT_FOUND")]


async def test_what_cannot_be_made_now_waits_and_the_other_shards_go_on(ctx, store, claimed, monkeypatch):
    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 0.0)
    make, down = compensations.create_task, True

    async def away(ctx, instance_id, at, body):
        if down and body["key"] == "r-0":
            raise OSError("no route to that cell")
        await make(ctx, instance_id, at, body)

    monkeypatch.setattr(compensations, "create_task", away)
    await workers.finish(ctx, [asking(claimed[n], ("REFUND", f"r-{n}")) for n in range(3)])
    relay = relay_of(store)
    apart = {shard_in(one.instance_id) for one in claimed[1:]} - {shard_in(claimed[0].instance_id)}
    assert await relay.once() >= len(apart)
    down = False
    while await relay.once():
        pass
    for n in range(3):
        assert await decisions(ctx, f"r-{n}") == ["created"]


async def test_only_the_shards_we_hold_are_relayed(ctx, store, claimed):
    await workers.finish(ctx, [asking(claimed[0], ("REFUND", "r-0"))])
    mine = shard_in(claimed[0].instance_id)
    others = Relay(store, lambda cell: [shard for shard in store.shards_of(cell) if shard != mine])
    assert await others.once() == 0
    assert await Relay(store, lambda cell: [mine] if mine in store.shards_of(cell) else []).once() == 1


def test_more_than_an_attempt_may_ask_for_is_refused():
    check([Compensation("R", "k")] * 20)
    for bad in ([Compensation("R", "k")] * 21, [Compensation("R", "")], [Compensation("R", "k", payload="x" * 70_000)]):
        with pytest.raises(Invalid):
            check(bad)
