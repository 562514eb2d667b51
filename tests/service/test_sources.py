"""Sources as a person puts them and a business pushes to them."""

from datetime import UTC, datetime, timedelta

import pytest

from horae.domain.errors import Conflict, Invalid, NotFound
from horae.domain.sources.comparisons import ListedTask
from horae.domain.sources.sources import HttpSource, Orphans, PushSource, RoundStatus, Spec
from horae.service.sources import repairs, sources
from horae.service.sources.pushed_pages import PushedPage, push
from horae.service.tasks import tasks
from horae.service.tasks.batches import TaskIntent, schedule_many
from tests.steps import a_job, a_type, move_clock, query

NINE = datetime(2035, 1, 1, 9, tzinfo=UTC)


@pytest.fixture
async def pushed(ctx):
    await a_type(ctx, "PUBLISH", width=16)
    return await sources.put(ctx, "PUBLISH", Spec(PushSource(), orphans=Orphans.CANCEL))


def items(*keys, at=NINE):
    return [ListedTask(key, at) for key in keys]


async def test_pages_of_a_round_are_compared_as_they_come(ctx, store, pushed):
    await tasks.schedule(ctx, "PUBLISH", "ab", at=NINE)
    await tasks.schedule(ctx, "PUBLISH", "z", at=NINE)
    await move_clock(store, minutes=5)
    first = await push(ctx, "PUBLISH", PushedPage("r1", items("a", "b")))
    assert (first.reached, first.ended, first.counts.created, first.counts.cancelled) == ("b", False, 2, 1)
    assert (await tasks.show(ctx, "PUBLISH", "z")).known.live is not None
    last = await push(ctx, "PUBLISH", PushedPage("r1", items("c"), after="b", last=True))
    assert (last.ended, last.counts.created, last.counts.cancelled, last.counts.rows) == (True, 3, 2, 3)
    [done] = await sources.rounds(ctx, "PUBLISH")
    assert (done.status, done.counts) == (RoundStatus.DONE, last.counts)


async def test_nothing_is_pushed_to_a_paused_source_but_dry_rounds(ctx, pushed):
    await sources.pause(ctx, "PUBLISH")
    with pytest.raises(Conflict, match="paused"):
        await push(ctx, "PUBLISH", PushedPage("r1", items("a"), last=True))
    dry = await push(ctx, "PUBLISH", PushedPage("d1", items("a"), last=True, dry=True))
    assert (dry.counts.missing, dry.counts.created) == (1, 0)
    assert (await sources.resume(ctx, "PUBLISH")).next_at is None, "what is pushed is not asked for"
    done = await push(ctx, "PUBLISH", PushedPage("r1", items("a"), last=True))
    assert done.counts.created == 1


async def test_a_page_that_calls_itself_dry_does_not_go_on_with_a_round_that_is_not(ctx, pushed):
    await push(ctx, "PUBLISH", PushedPage("r1", items("a")))
    await sources.pause(ctx, "PUBLISH")
    with pytest.raises(Conflict, match="paused"):
        await push(ctx, "PUBLISH", PushedPage("r1", items("b"), after="a", last=True, dry=True))


async def test_the_same_page_again_changes_nothing(ctx, pushed):
    page = PushedPage("r1", items("a", "b"))
    assert await push(ctx, "PUBLISH", page) == await push(ctx, "PUBLISH", page)
    end = PushedPage("r1", (), after="b", last=True)
    assert await push(ctx, "PUBLISH", end) == await push(ctx, "PUBLISH", end)
    assert len(await sources.rounds(ctx, "PUBLISH")) == 1


async def test_a_page_that_is_missing_is_asked_for_and_a_new_round_begins_at_the_first_key(ctx, pushed):
    await push(ctx, "PUBLISH", PushedPage("r1", items("a")))
    with pytest.raises(Conflict) as missing:
        await push(ctx, "PUBLISH", PushedPage("r1", items("d"), after="c"))
    assert missing.value.facts["reached"] == "a"
    with pytest.raises(Conflict):
        await push(ctx, "PUBLISH", PushedPage("r2", items("d"), after="c"))
    await push(ctx, "PUBLISH", PushedPage("r2", items("a"), last=True))
    stopped = (await sources.rounds(ctx, "PUBLISH"))[1]
    assert stopped.status is RoundStatus.STOPPED


@pytest.mark.parametrize(
    "page",
    [
        PushedPage("", items("a"), last=True),
        PushedPage("r", items("b", "a")),
        PushedPage("r", items("b"), after="b"),
        PushedPage("r", ()),
        PushedPage("r", items(*(f"{n:05}" for n in range(1001)))),
    ],
)
async def test_a_page_that_means_nothing_is_refused_and_nothing_is_touched(ctx, store, pushed, page):
    with pytest.raises(Invalid):
        await push(ctx, "PUBLISH", page)
    assert await query(store, "select from source_round") == []


async def test_a_span_with_more_tasks_than_are_read_at_once_is_compared_in_parts(ctx, store, pushed, monkeypatch):
    monkeypatch.setattr(repairs, "MOST", 7)
    await schedule_many(ctx, "PUBLISH", [TaskIntent(f"k{n:03}", at=NINE) for n in range(60)])
    await move_clock(store, minutes=5)
    taken = await push(ctx, "PUBLISH", PushedPage("r1", items("k010", "k020", "x"), last=True))
    assert (taken.counts.living, taken.counts.cancelled, taken.counts.created, taken.counts.rows) == (60, 58, 1, 3)
    assert {row["business_key"] for row in await query(store, "select business_key from instance_live")} == {
        *("k010", "k020", "x")
    }


async def test_rows_that_cannot_be_tasks_are_counted_and_do_not_stop_the_others(ctx, pushed):
    far = datetime(9500, 1, 1, tzinfo=UTC)
    taken = await push(
        ctx,
        "PUBLISH",
        PushedPage("r1", [ListedTask("a", far), ListedTask("b\t", NINE), ListedTask("c", NINE)], last=True),
    )
    assert (taken.counts.rows, taken.counts.refused, taken.counts.created) == (3, 2, 1)


async def test_a_source_is_put_read_listed_and_removed(ctx, store, pushed):
    await a_type(ctx, "AUDIT", width=16)
    await sources.put(ctx, "AUDIT", Spec(HttpSource("https://shop.example.com/")))
    assert [one.source.name for one in await sources.page(ctx, "", 10)] == ["AUDIT", "PUBLISH"]
    assert [one.source.name for one in await sources.page(ctx, "AUDIT", 10)] == ["PUBLISH"]
    again = await sources.put(ctx, "AUDIT", Spec(HttpSource("https://shop.example.com/v2"), every=60))
    assert (again.revision, (await sources.find(ctx, "AUDIT")).source.spec.every) == (2, 60)
    assert (await sources.remove(ctx, "AUDIT")).id == again.id
    for verb in (sources.find, sources.remove, sources.rounds):
        with pytest.raises(NotFound):
            await verb(ctx, "AUDIT")
    told = {row["action"] for row in await query(store, "select action from audit_log where action like 'source.%'")}
    assert told == {"source.put", "source.removed"}


async def test_only_a_type_has_a_source_and_each_is_asked_or_pushed(ctx, pushed):
    await a_job(ctx, "nightly")
    with pytest.raises(NotFound):
        await sources.put(ctx, "nightly", Spec(PushSource()))
    with pytest.raises(Conflict):
        await sources.request_round(ctx, "PUBLISH", dry=False)
    await sources.put(ctx, "PUBLISH", Spec(HttpSource("https://shop.example.com/")))
    with pytest.raises(Conflict):
        await push(ctx, "PUBLISH", PushedPage("r1", items("a")))


async def test_a_push_does_not_undo_what_came_meanwhile(ctx, store, pushed):
    await tasks.schedule(ctx, "PUBLISH", "a", at=NINE + timedelta(hours=1), version=2)
    listed = [ListedTask("a", NINE, 1)]
    taken = await push(ctx, "PUBLISH", PushedPage("r1", listed, last=True))
    assert (taken.counts.stale, taken.counts.moved) == (1, 0)
