"""Single puts that are written together are the same as puts one by one, and one bad or stuck put harms no other."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from horae.domain.errors import Invalid, NotFound
from horae.domain.traces.contexts import TraceContext
from horae.runtime import gathering
from horae.runtime.tracing import REQUEST_TRACE, RequestTrace
from horae.service.tasks import gathered, tasks
from tests.steps import a_type, query, until

TYPE = "ARTICLE_PUBLISH"
MANY = 300


@pytest.fixture
def batches(monkeypatch):
    """The sizes of what was written together."""
    sizes, inner = [], gathered.schedule_in_cell

    async def counting(ctx, job, cell, asked):
        sizes.append(len(asked))
        return await inner(ctx, job, cell, asked)

    monkeypatch.setattr(gathered, "schedule_in_cell", counting)
    return sizes


async def test_hundreds_of_puts_share_few_transactions_and_each_has_its_answer(ctx, store, batches):
    await a_type(ctx)
    await ctx.types.find(ctx.tenant, TYPE)  # else each put asks for it first, and they come one by one
    at = store.clock.now() + timedelta(hours=1)
    keys = [f"a-{number}" for number in range(MANY)]
    answers = await asyncio.gather(*(gathered.schedule(ctx, TYPE, key, at=at, payload={"key": key}) for key in keys))
    assert {answer.decision for answer in answers} == {"created"}
    assert len(batches) <= MANY / 10, batches
    for key, answer in zip(keys, answers, strict=True):
        found = await tasks.show(ctx, TYPE, key)
        assert (found.known.live.id, found.known.live.payload) == (answer.instance_id, {"key": key})
    await until(lambda: not len(ctx.memory.puts))


async def test_puts_of_one_key_are_decided_one_after_the_other(ctx, store):
    await a_type(ctx)
    at = store.clock.now() + timedelta(hours=1)
    puts = [gathered.schedule(ctx, TYPE, "a", at=at + timedelta(minutes=number)) for number in range(20)]
    answers = await asyncio.gather(*puts)
    assert Counter(answer.decision for answer in answers) == {"created": 1, "moved": 19}
    assert sorted(answer.revision for answer in answers) == list(range(1, 21))
    last = max(answers, key=lambda answer: answer.revision)
    assert (await tasks.show(ctx, TYPE, "a")).known.live.fire_time == last.at


async def test_a_bad_put_is_refused_and_those_beside_it_are_written(ctx, store):
    await a_type(ctx)
    at = store.clock.now() + timedelta(hours=1)
    puts = [gathered.schedule(ctx, TYPE, f"a-{n}", at=at, payload="\0" if n == 7 else n) for n in range(20)]
    answers = await asyncio.gather(*puts, return_exceptions=True)
    refused = [number for number, answer in enumerate(answers) if isinstance(answer, Exception)]
    assert refused == [7]
    assert isinstance(answers[7], Invalid)
    with pytest.raises(NotFound):
        await gathered.schedule(ctx, "nothing", "a", at=at)


async def test_a_put_that_waits_for_a_lock_keeps_nobody_else_waiting(ctx, store, monkeypatch):
    monkeypatch.setattr(gathering, "BESIDE_S", 0.001)
    await a_type(ctx)
    at = store.clock.now() + timedelta(hours=1)
    await tasks.schedule(ctx, TYPE, "held", at=at)
    job = await ctx.types.find(ctx.tenant, TYPE)
    place = await tasks.place_of(ctx, job, "held")
    async with store.tx(place.shard) as tx:
        await tx.rows("select 1 from instance_live where business_key = 'held' for update")
        stuck = asyncio.ensure_future(gathered.schedule(ctx, TYPE, "held", at=at + timedelta(hours=1)))
        others = await asyncio.gather(*(gathered.schedule(ctx, TYPE, f"a-{n}", at=at) for n in range(50)))
        assert {answer.decision for answer in others} == {"created"}
        assert not stuck.done()
    assert (await stuck).decision == "moved"


async def test_a_put_in_a_sampled_trace_is_written_by_itself_with_its_trace(ctx, store, batches):
    await a_type(ctx)
    at = store.clock.now() + timedelta(hours=1)
    trace = TraceContext(7, 8, sampled=True)

    async def traced(key):
        REQUEST_TRACE.set(RequestTrace(trace, 0))
        return await gathered.schedule(ctx, TYPE, key, at=at)

    await asyncio.gather(*(asyncio.create_task(traced(f"a-{n}")) for n in range(10)))
    assert batches == []
    rows = await query(store, "select caller_trace from instance_live")
    assert {row["caller_trace"] for row in rows} == {trace.pack()}
