"""Subjects of rolling sets that are added and removed by messages, repeated, late and in any order."""

import random

import msgspec
import pytest

from horae.domain.errors import ShardClosed
from horae.domain.events.channels import Broker, TopicAddress
from horae.domain.events.intakes import Intake
from horae.service.events import intake_batches, intakes, parked_messages
from horae.service.events.intake_batches import IntakeMessage
from horae.service.rolling import subjects
from horae.upkeep.ledgers import KeyForgetter
from tests.engine.test_rolling import a_set, listed, roll
from tests.events.test_intakes import TYPE, a_change
from tests.steps import a_type, move_clock, query


def a_message(key, version, op, **more):
    return IntakeMessage(
        msgspec.json.encode({"type": "STOCK", "key": key, "version": version, "op": op, **more}), f"{key}/{version}"
    )


@pytest.fixture
async def products(ctx, store):
    """A rolling set, and an intake that may change it."""
    store.brokers = {"main": Broker("kafka", ("*",))}
    made = await a_set(ctx, store)
    return made, await intakes.put(ctx, "products", Intake(TopicAddress("main", "acme.products"), ("STOCK", TYPE)))


async def apply(ctx, detail, *messages):
    return await intake_batches.apply_batch(ctx, detail, messages)


async def test_a_product_that_was_added_is_in_the_set_and_one_that_was_removed_is_not(ctx, store, products):
    made, detail = products
    assert await apply(ctx, detail, a_message("a", 1, "add"), a_message("b", 1, "add", at_once=True)) == (2, 0)
    found = await listed(ctx, made)
    assert set(found) == {"a", "b"}
    await roll(store)
    assert [key for key, one in (await listed(ctx, made)).items() if one.status == 1] == ["b"], "a waits for its tick"
    assert await apply(ctx, detail, a_message("a", 2, "remove")) == (1, 0)
    assert set(await listed(ctx, made)) == {"b"}


async def test_a_late_older_message_does_not_undo_a_newer_one(ctx, store, products):
    made, detail = products
    await apply(ctx, detail, a_message("a", 5, "remove"))
    await apply(ctx, detail, a_message("a", 4, "add"), a_message("a", 5, "add"))
    assert await listed(ctx, made) == {}
    await apply(ctx, detail, a_message("a", 6, "add"))
    before = await listed(ctx, made)
    await apply(ctx, detail, a_message("a", 6, "add"), a_message("a", 3, "remove"))
    assert await listed(ctx, made) == before
    await subjects.remove(ctx, made, ["a"])
    await apply(ctx, detail, a_message("a", 6, "add"))
    assert await listed(ctx, made) == {}, "a repeated message does not undo what a person asked for"


async def test_any_order_and_any_batches_have_the_same_end(ctx, store, products):
    made, detail = products
    dice = random.Random(3)
    messages, last = [], {}
    for n in range(60):
        for version in range(1, 6):
            op = dice.choice(["add", "remove"])
            last[f"p-{n}"] = op
            messages += [a_message(f"p-{n}", version, op)] * dice.choice([1, 2])
    dice.shuffle(messages)
    while messages:
        size = dice.randrange(1, 50)
        await apply(ctx, detail, *messages[:size])
        messages = messages[size:]
    assert set(await listed(ctx, made)) == {key for key, op in last.items() if op == "add"}


async def test_what_can_never_be_applied_is_parked_and_holds_nothing_back(ctx, store, products):
    made, detail = products
    await a_type(ctx, TYPE)
    wrong = IntakeMessage(a_change("a", 1, op="add"), "t/1")
    late = a_message("b", 1, "schedule", at="2031-01-01T00:00:00Z")
    assert await apply(ctx, detail, wrong, late, a_message("", 1, "add"), a_message("c", 1, "add")) == (1, 3)
    assert set(await listed(ctx, made)) == {"c"}
    assert {one.place for one in await parked_messages.page(ctx, None, 10)} == {"t/1", "b/1", "/1"}


async def test_a_message_for_a_shard_that_moves_is_asked_for_again(ctx, store, products):
    made, detail = products
    await query(store, "update shard set state = 'FROZEN'")
    with pytest.raises(ShardClosed):
        await apply(ctx, detail, a_message("a", 1, "add"))
    await query(store, "update shard set state = 'ACTIVE' where state = 'FROZEN'")
    await apply(ctx, detail, a_message("a", 1, "add"))
    assert set(await listed(ctx, made)) == {"a"}


async def test_the_version_of_a_removed_subject_is_kept_for_thirty_days(ctx, store, products):
    _, detail = products
    await apply(ctx, detail, a_message("a", 1, "add"), a_message("b", 1, "remove"))
    forgetter = KeyForgetter(store, dead_kept=None)
    await move_clock(store, days=29)
    await forgetter.once()
    rows = "select key from subject_version order by key"
    assert [row["key"] for row in await query(store, rows)] == ["a", "b"]
    await move_clock(store, days=2)
    await forgetter.once()
    assert [row["key"] for row in await query(store, rows)] == ["a"]
