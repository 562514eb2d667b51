"""What a source lists and what we have are made one: missing made, drifted moved, orphans cancelled where allowed."""

import asyncio
import random
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from horae.delivery.signing import keys_of, sign
from horae.domain.errors import Conflict
from horae.domain.instances.outcomes import DeclinedCall, ErrorCode, Success, Unrecoverable
from horae.domain.sources.sources import HttpSource, Orphans, RoundCounts, RoundStatus, Spec, SqlSource
from horae.domain.targets.auth import BearerAuth
from horae.domain.targets.egress import Egress
from horae.domain.tasks.tasks import AfterSuccess
from horae.service.audit import audit
from horae.service.sources import sources
from horae.service.tasks import tasks
from horae.service.tasks.batches import TaskIntent, schedule_many
from horae.store.audit.audit import AuditFilter
from horae.store.sources import sources as rows
from horae.upkeep.copies import Copier
from tests.steps import a_type, claim_everywhere, move_clock, query, settle
from tests.upkeep.shop import STATEMENT, listing, reconciling, shopping

NINE = datetime(2035, 1, 1, 9, tzinfo=UTC)
TEN = NINE + timedelta(hours=1)
KEY = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
WHOLE = Spec(SqlSource("shop", STATEMENT, page=3), orphans=Orphans.CANCEL, grace=60)


@pytest.fixture
async def shop(cluster):
    async with shopping(cluster) as shop:
        yield shop


@pytest.fixture
async def reconciler(store, ctx, shop):
    await a_type(ctx, "PUBLISH", width=16)
    await Copier(store).once()
    async with reconciling(store, {ctx.tenant.id: {"shop": shop.dsn}}) as reconciler:
        yield reconciler


async def listed(shop, *articles):
    """Each is (id, at) or (id, at, version)."""
    for id_, at, *version in articles:
        await shop.run("insert into article (id, publish_at, version) values ($1, $2, $3)", id_, at, *version or [None])


async def pending(ctx, *keys):
    return {
        key: known.live and known.live.fire_time
        for key in keys
        if (known := (await tasks.show(ctx, "PUBLISH", key)).known)
    }


async def whole_round(reconciler):
    while await reconciler.once():
        pass


async def ended(ctx):
    return (await sources.rounds(ctx, "PUBLISH"))[0]


async def test_missing_tasks_are_made_drifted_ones_moved_and_orphans_cancelled(ctx, store, shop, reconciler):
    for key in ("a", "b", "drifted", "orphan", "z-orphan"):
        await tasks.schedule(ctx, "PUBLISH", key, at=NINE)
    await listed(shop, ("a", NINE), ("b", NINE), ("drifted", TEN), ("missing", TEN, 7))
    await shop.run("""update article set payload = '{"title": "x"}' where id = 'missing'""")
    await move_clock(store, minutes=5)
    await sources.put(ctx, "PUBLISH", WHOLE)
    await whole_round(reconciler)
    assert await pending(ctx, "a", "b", "drifted", "missing") == {"a": NINE, "b": NINE, "drifted": TEN, "missing": TEN}
    made = await tasks.show(ctx, "PUBLISH", "missing")
    assert (made.known.live.payload, made.known.ledger.intent_version) == ({"title": "x"}, 7)
    assert made.decisions[-1]["by"] == "source"
    assert await pending(ctx, "orphan", "z-orphan") == {"orphan": None, "z-orphan": None}
    done = await ended(ctx)
    counts = done.counts
    assert (done.status, done.number, counts.rows, counts.drift) == (RoundStatus.DONE, 1, 4, 4)
    assert (counts.created, counts.moved, counts.cancelled) == (1, 1, 2)
    found = {
        one.key: (one.found, one.decision, one.ours, one.theirs) for one in await sources.list_repairs(ctx, "PUBLISH")
    }
    assert found == {
        "missing": ("missing", "created", None, TEN),
        "drifted": ("drifted", "moved", NINE, TEN),
        "orphan": ("orphan", "cancelled", NINE, None),
        "z-orphan": ("orphan", "cancelled", NINE, None),
    }
    entries = await audit.page(ctx, None, AuditFilter(action="source.repaired"), 50)
    named = [
        (decision, key)
        for entry in entries
        for decision in ("created", "moved", "cancelled")
        for key in entry.detail.get(decision, ())
    ]
    assert sorted(named) == [
        ("cancelled", "orphan"),
        ("cancelled", "z-orphan"),
        ("created", "missing"),
        ("moved", "drifted"),
    ]


async def test_a_second_round_finds_nothing_and_a_third_waits_for_its_time(ctx, store, shop, reconciler):
    await listed(shop, *((f"k{n}", NINE) for n in range(10)))
    await sources.put(ctx, "PUBLISH", WHOLE)
    await whole_round(reconciler)
    assert (await ended(ctx)).counts.created == 10
    assert await reconciler.once() == 0
    await move_clock(store, seconds=301)
    await whole_round(reconciler)
    second = await ended(ctx)
    assert (second.number, second.counts.rows, second.counts.living, second.counts.drift) == (2, 10, 10, 0)


async def test_a_paused_source_repairs_nothing_shows_what_it_would_do_and_begins_anew_when_resumed(
    ctx, store, shop, reconciler
):
    await listed(shop, ("missing", NINE))
    await sources.put(ctx, "PUBLISH", WHOLE)
    await sources.pause(ctx, "PUBLISH")
    await sources.put(ctx, "PUBLISH", WHOLE)  # said anew: that does not resume it
    assert await reconciler.once() == 0
    with pytest.raises(Conflict, match="paused"):
        await sources.request_round(ctx, "PUBLISH", dry=False)
    await sources.request_round(ctx, "PUBLISH", dry=True)
    await whole_round(reconciler)
    dry = await ended(ctx)
    assert (dry.dry, dry.counts.missing, dry.counts.created) == (True, 1, 0)
    await move_clock(store, seconds=301)
    assert await reconciler.once() == 0, "the round that would be due by now waits"
    assert (await sources.resume(ctx, "PUBLISH")).paused_at is None
    await whole_round(reconciler)
    done = await ended(ctx)
    assert (done.number, done.dry, done.counts.created) == (2, False, 1)
    assert (await sources.resume(ctx, "PUBLISH")).asked is None, "one that goes on is not asked for another round"


async def test_a_round_under_way_stands_still_where_its_source_is_paused(ctx, store, shop, reconciler):
    await listed(shop, *((f"k{n}", NINE) for n in range(10)))
    source = await sources.put(ctx, "PUBLISH", WHOLE)
    cell = store.cell(source.shard)
    async with cell.tx() as tx:
        begun = await rows.begin(tx, source, dry=False)
    await sources.pause(ctx, "PUBLISH")
    async with cell.tx() as tx:
        stood = await rows.advance(tx, begun, RoundCounts(), after="k3", cursor=None, next_at=tx.now)
    assert stood is None, "whoever was in the middle of it writes no more"
    assert await reconciler.once() == 0
    await sources.resume(ctx, "PUBLISH")
    await whole_round(reconciler)
    assert [one.status for one in await sources.rounds(ctx, "PUBLISH")] == [RoundStatus.DONE, RoundStatus.STOPPED]


async def test_a_dry_round_says_what_it_would_do_and_does_nothing(ctx, store, shop, reconciler):
    await tasks.schedule(ctx, "PUBLISH", "orphan", at=NINE)
    await listed(shop, ("missing", NINE))
    await move_clock(store, minutes=5)
    await sources.put(ctx, "PUBLISH", Spec(WHOLE.origin, orphans=Orphans.KEEP))
    await sources.request_round(ctx, "PUBLISH", dry=True)
    await whole_round(reconciler)
    done = await ended(ctx)
    assert (done.dry, done.counts.missing, done.counts.orphans, done.counts.kept, done.counts.created) == (
        True,
        1,
        1,
        1,
        0,
    )
    found = await sources.list_repairs(ctx, "PUBLISH", number=done.number)
    assert {(one.key, one.found, one.decision) for one in found} == {
        ("missing", "missing", None),
        ("orphan", "orphan", None),
    }
    assert await query(store, "select from task_key where business_key = 'missing'") == []
    assert await query(store, "select from audit_log where action = 'source.repaired'") == []


async def test_what_was_touched_a_moment_ago_is_left_to_the_next_round(ctx, store, shop, reconciler):
    await tasks.schedule(ctx, "PUBLISH", "moved", at=TEN)
    await tasks.schedule(ctx, "PUBLISH", "orphan", at=NINE)
    await listed(shop, ("moved", NINE))
    await sources.put(ctx, "PUBLISH", WHOLE)
    await whole_round(reconciler)
    assert await pending(ctx, "moved", "orphan") == {"moved": TEN, "orphan": NINE}
    assert (await ended(ctx)).counts.recent == 2
    await move_clock(store, seconds=301)
    await whole_round(reconciler)
    assert await pending(ctx, "moved", "orphan") == {"moved": NINE, "orphan": None}


async def test_a_newer_intent_than_the_list_knows_stays(ctx, store, shop, reconciler):
    await tasks.schedule(ctx, "PUBLISH", "a", at=TEN, version=6)
    await tasks.schedule(ctx, "PUBLISH", "b", at=NINE, version=4)
    await tasks.schedule(ctx, "PUBLISH", "c", at=NINE, version=6)
    await tasks.cancel(ctx, "PUBLISH", "c", version=7)
    await listed(shop, ("a", NINE, 5), ("b", TEN, 5), ("c", NINE, 6))
    await move_clock(store, minutes=5)
    await sources.put(ctx, "PUBLISH", WHOLE)
    await whole_round(reconciler)
    assert await pending(ctx, "a", "b", "c") == {"a": TEN, "b": TEN, "c": None}
    assert (await ended(ctx)).counts.stale == 2


async def test_what_succeeded_or_died_is_not_made_anew(ctx, store, shop, reconciler):
    for key in ("declined", "died", "done"):
        await tasks.schedule(ctx, "PUBLISH", key)
        [ran] = await claim_everywhere(store)
        said = {"done": Success(), "declined": DeclinedCall(), "died": Unrecoverable(ErrorCode.HANDLER, "no")}[key]
        await settle(store, ran, said)
    await listed(shop, ("declined", NINE), ("died", NINE), ("done", NINE))
    await move_clock(store, minutes=5)
    await sources.put(ctx, "PUBLISH", WHOLE)
    await whole_round(reconciler)
    assert await pending(ctx, "declined", "died", "done") == {"declined": NINE, "died": None, "done": None}
    counts = (await ended(ctx)).counts
    assert (counts.created, counts.dead, counts.succeeded) == (1, 1, 1)


async def test_a_type_that_reopens_is_made_anew_after_success(ctx, store, shop, reconciler):
    await a_type(ctx, "AUDIT", after_success=AfterSuccess.REOPEN)
    await tasks.schedule(ctx, "AUDIT", "a")
    [ran] = await claim_everywhere(store)
    await settle(store, ran, Success())
    await listed(shop, ("a", NINE))
    await move_clock(store, minutes=5)
    await sources.put(ctx, "AUDIT", WHOLE)
    await whole_round(reconciler)
    assert (await tasks.show(ctx, "AUDIT", "a")).known.ledger.generation == 2


async def test_a_list_that_is_suddenly_empty_cancels_no_more_than_it_may(ctx, store, shop, reconciler):
    await schedule_many(ctx, "PUBLISH", [TaskIntent(f"k{n:03}", at=NINE) for n in range(50)])
    await move_clock(store, minutes=5)
    await sources.put(ctx, "PUBLISH", Spec(WHOLE.origin, orphans=Orphans.CANCEL, most_cancelled=5))
    await whole_round(reconciler)
    counts = (await ended(ctx)).counts
    assert (counts.cancelled, counts.too_many, counts.orphans) == (5, 45, 50)


async def test_a_round_goes_on_where_another_node_was_killed(ctx, store, shop, reconciler, monkeypatch):
    await listed(shop, *((f"k{n:02}", NINE) for n in range(30)))
    await sources.put(ctx, "PUBLISH", WHOLE)
    advance, left = rows.advance, 4

    async def killed(*args, **facts):
        nonlocal left
        left -= 1
        if left < 0:
            raise asyncio.CancelledError
        return await advance(*args, **facts)

    with monkeypatch.context() as patched:
        patched.setattr(rows, "advance", killed)
        with pytest.raises(asyncio.CancelledError):
            await reconciler.once()
    [row] = await query(store, "select after_key, round, running from source")
    assert (row["after_key"], row["round"], row["running"]) == ("k11", 1, True)
    async with reconciling(store, {ctx.tenant.id: {"shop": shop.dsn}}) as other:
        await whole_round(other)
    done = await ended(ctx)
    assert (done.number, done.status, done.counts.rows) == (1, RoundStatus.DONE, 30)
    assert len(await query(store, "select from source_repair")) == 30


async def test_two_nodes_that_both_believe_to_hold_it_repair_each_key_once(ctx, store, shop, reconciler):
    await listed(shop, *((f"k{n:03}", NINE) for n in range(300)))
    await sources.put(ctx, "PUBLISH", Spec(SqlSource("shop", STATEMENT, page=20)))
    async with reconciling(store, {ctx.tenant.id: {"shop": shop.dsn}}) as other:
        await asyncio.gather(whole_round(reconciler), whole_round(other))
    assert len(await query(store, "select from source_repair")) == 300
    assert len(await query(store, "select from instance_live")) == 300
    assert (await ended(ctx)).status is RoundStatus.DONE


async def test_it_never_fights_a_concurrent_reschedule(ctx, store, shop, reconciler):
    """Authors change times while rounds run over lists that lag behind them: the last acknowledged intent stays."""
    keys, dice = [f"k{n:02}" for n in range(40)], random.Random(11)
    last: dict[str, tuple[int, datetime]] = {}
    await listed(shop, *((key, NINE, 0) for key in keys))
    await sources.put(ctx, "PUBLISH", Spec(SqlSource("shop", STATEMENT, page=7), grace=0, every=5))
    writing = True

    async def author(own):
        """The business row first, then the call; some calls never come, and the source has to make up for them."""
        connection = await asyncpg.connect(shop.dsn)
        for version in range(1, 30):
            for key in own:
                at = NINE + timedelta(seconds=dice.randrange(10_000))
                if dice.random() < 0.5:  # some tell us first: their list is the older one for a while
                    await tasks.schedule(ctx, "PUBLISH", key, at=at, version=version)
                    await connection.execute(
                        "update article set publish_at = $2, version = $3 where id = $1", key, at, version
                    )
                else:
                    await connection.execute(
                        "update article set publish_at = $2, version = $3 where id = $1", key, at, version
                    )
                    if dice.random() < 0.8:
                        await tasks.schedule(ctx, "PUBLISH", key, at=at, version=version)
                last[key] = version, at
        await connection.close()

    async def rounds():
        while writing:
            await sources.request_round(ctx, "PUBLISH", dry=False)
            await reconciler.once()

    walking = asyncio.create_task(rounds())
    await asyncio.gather(*(author(keys[n::4]) for n in range(4)))
    writing = False
    await walking
    for key in keys:  # whatever raced, no acknowledged intent was put back to an older one
        shown = (await tasks.show(ctx, "PUBLISH", key)).known
        assert shown.ledger.intent_version <= last[key][0]
    await sources.request_round(ctx, "PUBLISH", dry=False)
    await whole_round(reconciler)
    for key, (version, at) in last.items():
        known = (await tasks.show(ctx, "PUBLISH", key)).known
        assert (known.live.fire_time, known.ledger.intent_version) == (at, version), key
        versions = [
            one.get("version")
            for one in (await tasks.show(ctx, "PUBLISH", key)).decisions
            if one["decision"] != "ignored"
        ]
        assert versions == sorted(versions, key=lambda one: one or 0), key


async def test_without_versions_a_change_after_the_comparison_wins(ctx, store, shop, reconciler, monkeypatch):
    """The list is read, then an author moves the task, then the repair would be written."""
    from horae.service.sources import repairs

    await tasks.schedule(ctx, "PUBLISH", "moved", at=NINE)
    await tasks.schedule(ctx, "PUBLISH", "orphan", at=NINE)
    await listed(shop, ("moved", TEN))
    await move_clock(store, minutes=5)
    mend, later = repairs.repair_in_cell, TEN + timedelta(hours=1)

    async def meanwhile(*args):
        await tasks.schedule(ctx, "PUBLISH", "moved", at=later)
        await tasks.schedule(ctx, "PUBLISH", "orphan", at=later)
        return await mend(*args)

    monkeypatch.setattr(repairs, "repair_in_cell", meanwhile)
    await sources.put(ctx, "PUBLISH", Spec(WHOLE.origin, orphans=Orphans.CANCEL, grace=0))
    await reconciler.once()
    assert await pending(ctx, "moved", "orphan") == {"moved": later, "orphan": later}
    assert await query(store, "select from source_repair") == []


async def test_pages_behind_a_url_are_asked_for_signed_and_one_after_the_other(ctx, store, reconciler):
    with listing() as lister:
        lister.items = [{"key": f"k{n:02}", "at": "2035-01-01T17:00:00+08:00", "version": n} for n in range(25)]
        secrets = {ctx.tenant.id: {"sign": KEY, "token": "t0p"}}
        async with reconciling(store, secrets) as other:
            origin = HttpSource(lister.url, auth=BearerAuth("token"), signing="sign", page=10)
            await sources.put(ctx, "PUBLISH", Spec(origin))
            await whole_round(other)
    assert [(one["cursor"], one["limit"], one["type"]) for one in lister.asked] == [
        (None, 10, "PUBLISH"),
        ("10", 10, "PUBLISH"),
        ("20", 10, "PUBLISH"),
    ]
    said, body = lister.headers[0], lister.bodies[0]
    assert said["authorization"] == "Bearer t0p"
    assert said["webhook-signature"] == sign(keys_of(KEY), said["webhook-id"], int(said["webhook-timestamp"]), body)
    assert (await ended(ctx)).counts.created == 25
    assert await pending(ctx, "k07") == {"k07": NINE}


async def test_a_page_that_is_too_long_is_asked_for_again_shorter(ctx, store, reconciler):
    with listing() as lister:
        lister.items = [{"key": f"k{n:03}", "at": "2035-01-01T09:00:00Z", "payload": "x" * 400} for n in range(400)]
        await sources.put(ctx, "PUBLISH", Spec(HttpSource(lister.url, page=400)))
        await whole_round(reconciler)
    assert {one["limit"] for one in lister.asked} == {400, 200, 100}
    assert (await ended(ctx)).counts.created == 400


@pytest.mark.parametrize("fault", ["status", "order", "gone"])
async def test_a_list_that_cannot_be_read_cancels_nothing_and_is_tried_again(ctx, store, reconciler, fault):
    await tasks.schedule(ctx, "PUBLISH", "k0", at=NINE)
    await move_clock(store, minutes=5)
    with listing() as lister:
        lister.items = [{"key": f"m{n}", "at": "2035-01-01T09:00:00Z"} for n in range(3)]
        lister.status, lister.shuffled = (503 if fault == "status" else 200), fault == "order"
        url = lister.url if fault != "gone" else "http://127.0.0.1:9/"
        await sources.put(ctx, "PUBLISH", Spec(HttpSource(url), orphans=Orphans.CANCEL))
        assert await reconciler.once() == 0
        failed = await ended(ctx)
        assert failed.status is RoundStatus.RUNNING
        assert failed.error
        assert await pending(ctx, "k0") == {"k0": NINE}
        assert await reconciler.once() == 0
        if fault == "gone":
            return
        lister.status, lister.shuffled = 200, False
        await move_clock(store, seconds=310)
        await whole_round(reconciler)
    done = await ended(ctx)
    assert (done.number, done.error, done.counts.created, done.counts.cancelled) == (1, None, 3, 1)


async def test_the_address_guard_stands_before_a_source_too(ctx, store, shop, reconciler):
    async with reconciling(store, {ctx.tenant.id: {"shop": shop.dsn}}, Egress()) as guarded:
        for origin in (HttpSource("http://127.0.0.1:9/"), SqlSource("shop", STATEMENT)):
            await sources.put(ctx, "PUBLISH", Spec(origin))
            await guarded.once()
            assert "may not be" in (await ended(ctx)).error


async def test_a_statement_that_writes_is_refused_and_a_missing_secret_is_told(ctx, store, shop, reconciler):
    await listed(shop, ("a", NINE))
    writing = "with gone as (delete from article where id > $1 returning id) select id as key from gone limit $2"
    for origin, said in (
        (SqlSource("shop", writing), "read-only"),
        (SqlSource("shop", "select nothing from article where id > $1 limit $2"), "nothing"),
        (SqlSource("nobody", STATEMENT), "no secret"),
        (SqlSource("shop", "select 1 as key, now() as at where '' < $1::text or 1 < $2::int"), "key (text)"),
        (SqlSource("shop", "select 'a' as key, now()::timestamp as at where $1::text = '' and 1 < $2::int"), "offset"),
    ):
        await sources.put(ctx, "PUBLISH", Spec(origin))
        await reconciler.once()
        assert said in (await ended(ctx)).error
    assert await shop.connection.fetchval("select count(*) from article") == 1


async def test_a_source_is_its_holders_alone(ctx, store, shop, reconciler):
    await listed(shop, ("a", NINE))
    await sources.put(ctx, "PUBLISH", WHOLE)
    async with reconciling(store, {ctx.tenant.id: {"shop": shop.dsn}}, held=lambda _cell: ()) as idle:
        assert await idle.once() == 0
    assert await sources.rounds(ctx, "PUBLISH") == []
