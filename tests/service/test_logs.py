"""Log lines of attempts: numbered, bounded, encrypted, and read by their tenant only."""

from datetime import UTC, datetime

import pytest

from horae.domain.errors import Invalid, NotFound
from horae.domain.instances.logs import BEGIN, MAX_ATTEMPT_LOG_BYTES, LogBatch, LogLine, LogMark, check_lines
from horae.domain.instances.outcomes import Success
from horae.domain.targets.targets import QueueTarget
from horae.domain.tenants.tenants import Allowance
from horae.domain.workers.workers import FailureReport, Finish
from horae.service.context import Context, PlatformContext
from horae.service.instances import logs, tails
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.service.workers import workers
from horae.upkeep.copies import Copier
from tests.steps import a_type, move_clock, query

AT = datetime(2026, 11, 18, 8, tzinfo=UTC)


@pytest.fixture
async def queue(ctx, store):
    await a_type(ctx, "MAIL", target=QueueTarget("mail", claim_seconds=30))
    await Copier(store).once()


async def claimed(ctx, many=1, name=""):
    for n in range(many):
        await tasks.schedule(ctx, "MAIL", f"{name}{n}")
    return await workers.claim(ctx, "mail", "w")


def batch(one, *texts, first=None, **more):
    token = more.get("token", one.token)
    return LogBatch(one.instance_id, one.attempt, token, [LogLine(AT, text) for text in texts], first)


async def texts(ctx, one, after=BEGIN, limit=10_000):
    page = await logs.read(ctx, one.instance_id, after, limit)
    return [f"-{line.dropped}" if line.line is None else line.line.text for line in page.lines]


async def test_lines_are_read_in_order_with_the_attempt_that_wrote_them(ctx, store, queue):
    [one] = await claimed(ctx)
    assert await logs.append(ctx, [batch(one, "a", "b"), batch(one, "c")]) == ["done", "done"]
    await workers.finish(ctx, [Finish(one.instance_id, 1, one.token, FailureReport("busy"))])
    await move_clock(store, minutes=5)
    [again] = await workers.claim(ctx, "mail", "w")
    assert await logs.append(ctx, [batch(again, "d")]) == ["done"]
    page = await logs.read(ctx, one.instance_id, BEGIN, 100)
    assert [(line.attempt, line.number, line.line.text) for line in page.lines] == [
        (1, 0, "a"),
        (1, 1, "b"),
        (1, 2, "c"),
        (2, 0, "d"),
    ]
    assert page.is_end
    assert page.next == LogMark(2, 1)


async def test_a_page_ends_in_the_middle_of_a_batch_and_the_next_goes_on_there(ctx, store, queue):
    [one] = await claimed(ctx)
    await logs.append(ctx, [batch(one, *"abc"), batch(one, *"def")])
    found, mark = [], BEGIN
    while True:
        page = await logs.read(ctx, one.instance_id, mark, 2)
        found += [line.line.text for line in page.lines]
        mark = page.next
        if page.is_end:
            break
    assert found == list("abcdef")


async def test_a_request_with_very_many_batches_of_one_instance_stores_the_first_ones_and_those_of_others(ctx, queue):
    one, other = await claimed(ctx, 2)
    many = [batch(one, str(n), first=n) for n in range(1000 - 1)]
    verdicts = await logs.append(ctx, [*many, batch(other, "z")])
    assert verdicts == ["done"] * 8 + ["not_now"] * 991 + ["done"]
    assert await texts(ctx, one) == list("01234567")
    assert await texts(ctx, other) == ["z"]
    assert await logs.append(ctx, many[8:10]) == ["done", "done"]


async def test_a_batch_that_is_sent_again_is_stored_once(ctx, store, queue):
    [one] = await claimed(ctx)
    for _ in range(2):
        assert await logs.append(ctx, [batch(one, "a", "b", first=0)]) == ["done"]
    assert await logs.append(ctx, [batch(one, "c", first=2)]) == ["done"]
    assert await texts(ctx, one) == ["a", "b", "c"]


async def test_lines_that_the_worker_dropped_leave_a_mark(ctx, store, queue):
    [one] = await claimed(ctx)
    await logs.append(ctx, [batch(one, "a", first=0), batch(one, "z", first=26)])
    assert await texts(ctx, one) == ["a", "-25", "z"]


async def test_a_flood_keeps_the_last_mebibyte_and_says_how_many_lines_are_gone(ctx, store, queue):
    [one] = await claimed(ctx)
    line = "x" * 1000
    for number in range(15):
        assert await logs.append(ctx, [batch(one, *[f"{number}-{n} {line}" for n in range(100)])]) == ["done"]
    rows = await query(store, "select lines, end_byte from log_batch")
    found, mark = [], BEGIN
    while True:
        page = await logs.read(ctx, one.instance_id, mark, 10_000)
        found += page.lines
        mark = page.next
        if page.is_end:
            break
    assert found[0].line is None
    assert found[0].dropped + len(found) - 1 == 1500
    assert len(found) - 1 == sum(row["lines"] for row in rows) < 1500
    assert max(row["end_byte"] for row in rows) - min(row["end_byte"] for row in rows) <= MAX_ATTEMPT_LOG_BYTES
    assert found[-1].line.text.startswith("14-99")


async def test_the_bytes_of_the_table_do_not_contain_a_line(ctx, store, queue):
    [one] = await claimed(ctx)
    await logs.append(ctx, [batch(one, "a very private line")])
    [row] = await query(store, "select body::text as body from log_batch")
    assert "private" not in row["body"]
    assert await texts(ctx, one) == ["a very private line"]


async def test_only_the_owner_of_an_attempt_may_log(ctx, store, queue):
    [one] = await claimed(ctx)
    assert await logs.append(ctx, [batch(one, "forged", token="nope")]) == ["late"]
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=16), "test")
    assert await logs.append(other, [batch(one, "foreign")]) == ["late"]
    await workers.finish(ctx, [Finish(one.instance_id, 1, one.token, Success())])
    assert await logs.append(ctx, [batch(one, "too late")]) == ["late"]
    assert await query(store, "select * from log_batch") == []


async def test_another_tenant_neither_reads_nor_follows(ctx, store, queue):
    [one] = await claimed(ctx)
    await logs.append(ctx, [batch(one, "a")])
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=16), "test")
    assert await texts(other, one) == []
    with pytest.raises(NotFound):
        await logs.check_readable(other, one.instance_id)
    assert [news async for news in tails.follow(other, one.instance_id, BEGIN)] == []


async def test_a_tail_gets_lines_as_they_come_and_ends_with_the_instance(ctx, store, queue):
    [one] = await claimed(ctx)
    await logs.append(ctx, [batch(one, "a")])
    heard = []
    async for news in tails.follow(ctx, one.instance_id, BEGIN):
        heard += [line.line.text for line in news.lines]
        if heard == ["a"]:
            await logs.append(ctx, [batch(one, "b")])
        elif heard == ["a", "b"] and news.state is None:
            await workers.finish(ctx, [Finish(one.instance_id, 1, one.token, Success())])
        last = news
    assert heard == ["a", "b"]
    assert last.state == "SUCCESS"


async def test_a_tail_hears_lines_of_another_process(ctx, store, queue):
    [one] = await claimed(ctx)
    elsewhere = Context.of(store, ctx.tenant, "test")
    async for news in tails.follow(ctx, one.instance_id, BEGIN):
        if news.lines:
            break
        await logs.append(elsewhere, [batch(one, "a", first=0)])
    assert news.lines[0].line.text == "a"


async def test_a_stopping_process_ends_its_tails(ctx, store, queue):
    [one] = await claimed(ctx)
    heard = []
    async for news in tails.follow(ctx, one.instance_id, BEGIN):
        heard.append(news)
        ctx.memory.tails.close()
    assert len(heard) == 1
    assert heard[0].state is None


async def test_a_tenant_logs_no_more_than_it_may_in_a_day(ctx, store, queue):
    await tenants.allow(PlatformContext(store, "test"), ctx.tenant.name, Allowance(log_bytes=1000))
    await Copier(store).once()
    ctx = Context.of(store, ctx.tenant, "test")
    [one] = await claimed(ctx)
    verdicts = [(await logs.append(ctx, [batch(one, "x" * 100)]))[0] for _ in range(12)]
    assert verdicts[0] == "done"
    assert verdicts[-1] == "full"
    elsewhere = Context.of(store, ctx.tenant, "test")  # a process that just started learns it with its first lines
    assert [(await logs.append(elsewhere, [batch(one, "y")]))[0] for _ in range(2)][-1] == "full"


def test_lines_have_bounds():
    line = LogLine(AT, "a")
    for lines, first in (
        ([], None),
        ([line] * 1001, None),
        ([LogLine(AT, "x" * 8001)], None),
        ([LogLine(AT, "x" * 8000)] * 17, None),
        ([LogLine(AT, "nul \0")], None),
        ([LogLine(AT, "a", "")], None),
        ([line], -1),
    ):
        with pytest.raises(Invalid):
            check_lines(lines, first)
