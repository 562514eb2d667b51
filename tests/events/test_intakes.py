"""Schedule changes that come by real brokers: duplicated, reordered, the broker killed and restarted in between."""

import asyncio
import random
import time
from collections import Counter
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from horae.delivery.broker_connections import broker_rules
from horae.delivery.brokers import source_of
from horae.domain.errors import Invalid, NotFound, Unavailable
from horae.domain.events.channels import Broker, TopicAddress
from horae.domain.events.intakes import Intake
from horae.runtime.settings import BrokerSettings
from horae.runtime.telemetry import log
from horae.service.events import intake_batches, intakes, parked_messages
from horae.service.events.intake_batches import IntakeMessage
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from horae.upkeep.intakes import Intakes
from tests.events.memory import MOST_GROWN, peak_mib
from tests.events.sending import send
from tests.steps import a_type, query, until

SIZES = [
    pytest.param(2_000, id="2,000", marks=pytest.mark.timeout(400)),
    pytest.param(10_000, id="10,000", marks=[pytest.mark.timeout(400), pytest.mark.long]),
    pytest.param(100_000, id="100,000", marks=[pytest.mark.long, pytest.mark.timeout(1800)]),
]
TYPE, VERSIONS = "ARTICLE_PUBLISH", 10
FIRST = datetime(2031, 1, 1, tzinfo=UTC)


def a_change(key, version, **more):
    return msgspec.json.encode({"type": TYPE, "key": key, "version": version, **more})


def changes(number, dice):
    """What an author did to each key in turn; some of it twice, in no order. Returns the last word about each, too."""
    said, last = [], {}
    for n in range(number // VERSIONS):
        key = f"a-{n}"
        for version in range(1, VERSIONS + 1):
            at = None if dice.random() < 0.2 else FIRST + timedelta(seconds=n * VERSIONS + version)
            more = {"op": "cancel"} if at is None else {"op": dice.choice(["schedule", "move"]), "at": at}
            last[key] = version, at
            said += [a_change(key, version, **more, copy=copy) for copy in range(1 + (dice.random() < 0.2))]
    dice.shuffle(said)
    return said, last


@pytest.fixture
def committed(monkeypatch):
    """How often each message was taken and what it says committed."""
    taken, take = Counter(), intake_batches.apply_batch

    async def noted(ctx, standing, batch):
        done = await take(ctx, standing, batch)
        taken.update([one.body for one in batch])
        return done

    monkeypatch.setattr(intake_batches, "apply_batch", noted)
    return taken


async def taken(committed, number, seconds, broker, topic):
    """Until so many are; else what was seen of it, and what the broker says."""
    try:
        await until(lambda: len(committed) >= number, seconds)
    except AssertionError as error:
        seen = f"{len(committed)} of {number} taken, {committed.total()} with those taken again"
        raise AssertionError(f"{error}: {seen}; {await broker.state(topic)}") from None


async def state(store):
    """Each key's version, and its time if it lives."""
    live = {row["business_key"]: row["fire_time"] for row in await query(store, "select * from instance_live")}
    rows = await query(store, "select business_key, intent_version from task_key")
    return {row["business_key"]: (row["intent_version"], live.get(row["business_key"])) for row in rows}


@pytest.mark.parametrize("number", SIZES)
async def test_the_highest_version_of_every_key_holds(ctx, store, broker, number, committed):
    """Judged when the last message was taken, not when it first looks right."""
    topic = broker.topic(f"changes-{broker.kind}-{number}")
    await broker.declare(topic)
    store.brokers = broker_rules({"main": broker.settings})
    await a_type(ctx, TYPE)
    await intakes.put(ctx, "in", Intake(TopicAddress("main", topic), (TYPE,)))
    await Copier(store).once()
    said, last = changes(number, random.Random(broker.kind))
    half = len(said) // 2
    await send(broker, topic, said[:half], 1)
    duty = Intakes(store, {"main": broker.settings}, store.shards_of)
    memory = peak_mib()
    await duty.once()
    try:
        await taken(committed, number // 20 + 1, 120, broker, topic)
        await asyncio.to_thread(broker.kill)
        await asyncio.to_thread(broker.restart)
        left, began = len(said) - len(committed), time.monotonic()
        await send(broker, topic, said[half:], 2)
        await taken(committed, len(said), 1200 if number > 10_000 else 200, broker, topic)
        seconds = time.monotonic() - began
    finally:
        async with asyncio.timeout(30):  # it is told, and ends
            await duty.close()
    again, grown = committed.total() - len(said), peak_mib() - memory
    log.info("taken", messages=len(said), again=again, per_second=round(left / seconds), grown_mib=grown)
    assert (await state(store)) == last
    assert await parked_messages.page(ctx, None, 10) == []
    assert grown < MOST_GROWN


async def test_a_paused_intake_leaves_what_comes_in_its_topic_and_people_see_how_far_it_has_come(
    ctx, store, broker, monkeypatch
):
    monkeypatch.setattr("horae.upkeep.intakes.BACKLOG_CHECK_INTERVAL_S", 0.1)
    left = None if broker.kind == "rocketmq" else 0  # it cannot be asked how many are left
    topic = broker.topic(f"paused-{broker.kind}")
    await broker.declare(topic)
    store.brokers = broker_rules({"main": broker.settings})
    await a_type(ctx, TYPE)
    await intakes.put(ctx, "in", Intake(TopicAddress("main", topic)))
    duty = Intakes(store, {"main": broker.settings}, store.shards_of)

    async def stands(**facts):
        await duty.once()
        at = (await intakes.find(ctx, "in")).position
        return at is not None and all(getattr(at, name) == value for name, value in facts.items())

    try:
        await send(broker, topic, [a_change("a", 1), a_change("b", 1), b"?"], 1)
        await until(lambda: stands(taken=3, parked=1, waiting=left, error=None), 60)
        await intakes.pause(ctx, "in", paused=True)
        await duty.once()  # it is told, and ends
        await send(broker, topic, [a_change("a", 2), a_change("c", 1)], 2)
        assert await stands(taken=3)
        assert "c" not in await state(store)
        await intakes.pause(ctx, "in", paused=False)
        await until(lambda: stands(taken=5, parked=1, waiting=left), 60)
        assert {key: version for key, (version, _) in (await state(store)).items()} == {"a": 2, "b": 1, "c": 1}
    finally:
        await duty.close()


async def test_an_intake_that_may_not_ask_what_waits_takes_all_the_same(ctx, store, broker, monkeypatch):
    topic = broker.topic(f"unseen-{broker.kind}")
    await broker.declare(topic)
    store.brokers = broker_rules({"main": broker.settings})
    await a_type(ctx, TYPE)
    await intakes.put(ctx, "in", Intake(TopicAddress("main", topic)))

    async def refused(_source):
        raise Unavailable("you may not ask")

    monkeypatch.setattr(type(source_of(broker.settings, topic, "test")), "backlog", refused)
    duty = Intakes(store, {"main": broker.settings}, store.shards_of)
    await duty.once()

    async def came():
        at = (await intakes.find(ctx, "in")).position
        return at is not None and (at.taken, at.waiting, at.error) == (1, None, None)

    try:
        await send(broker, topic, [a_change("a", 1)], 1)
        await until(came, 60)
    finally:
        await duty.close()


async def test_what_is_wrong_with_an_intake_is_said_where_people_look(ctx, store, unused_tcp_port):
    away = BrokerSettings(kind="nats", url=f"nats://127.0.0.1:{unused_tcp_port}")
    store.brokers = broker_rules({"main": away})
    await intakes.put(ctx, "in", Intake(TopicAddress("main", "acme.changes")))
    duty = Intakes(store, {"main": away}, store.shards_of)
    await duty.once()

    async def complained():
        at = (await intakes.find(ctx, "in")).position
        return at is not None and (at.taken, at.waiting, bool(at.error)) == (0, None, True)

    try:
        await until(complained, 30)
    finally:
        await duty.close()
    await intakes.remove(ctx, "in")
    assert await query(store, "select from intake_position") == []


@pytest.fixture
async def told(ctx, store):
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    await a_type(ctx, TYPE)
    return await intakes.put(ctx, "in", Intake(TopicAddress("main", "acme.changes")))


async def test_what_says_nothing_is_parked_once_and_holds_nobody_back(ctx, store, told):
    bodies = [b"{", b"[]", b'{"type": "ARTICLE_PUBLISH", "key": "a"}', b'{"type": "NO_SUCH", "key": "a", "version": 1}',
              a_change("", 1), a_change("good", 1), b"\xff\x00"]  # fmt: skip
    for _ in range(2):
        done = await intake_batches.apply_batch(
            ctx, told, [IntakeMessage(body, f"t/{n}") for n, body in enumerate(bodies)]
        )
        assert done == (1, 6)
    found = await parked_messages.page(ctx, None, 10)
    assert {one.place for one in found} == {"t/0", "t/1", "t/2", "t/6", "t/3", "t/4"}
    assert {one.code for one in found} == {"SCH_400_BAD_REQUEST", "SCH_404_NOT_FOUND", "SCH_422_INVALID"}
    assert (await tasks.show(ctx, TYPE, "good")).known.ledger.intent_version == 1
    [row] = await query(store, "select body::text from parked where place = 't/3'")
    assert "NO_SUCH" not in row["body"]  # sealed: it may hold a payload


async def test_a_parked_message_is_replayed_when_it_can_be_done_or_dropped(ctx, store, told):
    late = msgspec.json.encode({"specversion": "1.0", "data": {"type": "LATER", "key": "k", "version": 3}})
    await intake_batches.apply_batch(ctx, told, [IntakeMessage(late, "t/0"), IntakeMessage(b"?", "t/1")])
    one, two = sorted(await parked_messages.page(ctx, None, 10), key=lambda one: one.place)
    with pytest.raises(NotFound):
        await parked_messages.replay(ctx, one.id)
    await a_type(ctx, "LATER")
    await parked_messages.replay(ctx, one.id)
    assert (await tasks.show(ctx, "LATER", "k")).known.ledger.intent_version == 3
    await parked_messages.drop(ctx, two.id)
    assert await parked_messages.page(ctx, None, 10) == []
    with pytest.raises(NotFound):
        await parked_messages.drop(ctx, two.id)
    actions = await query(store, "select action from audit_log where action like 'parked%' order by at")
    assert [row["action"] for row in actions] == ["parked.replayed", "parked.dropped"]


async def test_a_cancellation_that_comes_first_is_not_forgotten(ctx, store, told):
    """For a key never heard of, and for one that is over: what was meant before comes too late."""
    for key in ("new", "over"):
        if key == "over":
            await tasks.schedule(ctx, TYPE, key, version=1)
            await tasks.cancel(ctx, TYPE, key, version=2)
        await intake_batches.apply_batch(ctx, told, [IntakeMessage(a_change(key, 5, op="cancel"), "t")])
        await intake_batches.apply_batch(ctx, told, [IntakeMessage(a_change(key, 4), "t")])
        assert (await tasks.show(ctx, TYPE, key)).known.live is None
        await intake_batches.apply_batch(ctx, told, [IntakeMessage(a_change(key, 6), "t")])
        assert (await tasks.show(ctx, TYPE, key)).known.live is not None
    first = await tasks.cancel(ctx, TYPE, "alone", version=7)
    assert (first.decision, first.reason) == ("ignored", "not_live")
    assert (await tasks.schedule(ctx, TYPE, "alone", version=6)).reason == "stale"
    with pytest.raises(NotFound):
        await tasks.cancel(ctx, TYPE, "unheard")


async def test_a_message_changes_only_what_its_intake_may(ctx, store, told):
    narrow = await intakes.put(ctx, "in", Intake(TopicAddress("main", "acme.changes"), ("OTHER",)))
    assert (await intake_batches.apply_batch(ctx, narrow, [IntakeMessage(a_change("k", 1, tenant="globex"), "t")])) == (
        0,
        1,
    )
    with pytest.raises(Invalid):
        await intakes.put(ctx, "in", Intake(TopicAddress("main", "globex.changes")))
    with pytest.raises(Invalid):
        await intakes.put(ctx, "in", Intake(TopicAddress("elsewhere", "acme.changes")))
