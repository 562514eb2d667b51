"""A node frozen for longer than its lease, with calls in flight, comes back and is refused (R-08)."""

import asyncio
import random
from collections import Counter
from uuid import UUID

import pytest

from tests.catcher import Catcher, catching
from tests.engine.fleet import every_fire_has_one_row, steady
from tests.steps import query, until
from tests.system.processes import node_processes

LONG = (pytest.mark.long, pytest.mark.timeout(7200))
TTL = 2.0


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        catcher.takes = 0.4  # so that what has just arrived is in flight
        yield catcher


RUN_BY = "select id from instance_live where owner = $1 and state = 'RUNNING'"


@pytest.fixture
async def nodes(cells, tmp_path):
    with node_processes(2, tmp_path, cells, TTL) as both:
        yield both


@pytest.mark.parametrize("runs", [1, pytest.param(300, marks=LONG)])
async def test_the_late_writes_of_a_node_that_was_frozen_are_refused_and_effects_stay_single(
    ctx, store, catcher: Catcher, nodes, runs, record_property
):
    jobs, chance = 60, random.Random(8)
    delivered = Counter()
    catcher.answer = lambda arrival: hangs_when_it_comes_again(delivered, arrival)
    await steady(ctx, store, catcher, jobs, read_timeout=20)
    await asyncio.gather(*(node.ready() for node in nodes))
    for number in range(runs):
        frozen, heir = nodes if number % 2 else reversed(nodes)
        await until(lambda: shared(nodes))
        refused, never = [(await node.tell("counts"))["late"] for node in (frozen, heir)]
        seen = len(catcher.arrivals)
        await until(lambda seen=seen: len(catcher.arrivals) >= seen + jobs)
        await until(lambda frozen=frozen: frozen_amid_calls(store, catcher, frozen))
        await asyncio.sleep(TTL * (chance.uniform(2, 10) if runs > 1 else 2))
        await until(lambda: bool(catcher.hanging))  # the heir runs what the frozen one had in flight
        frozen.resume()
        await until(lambda frozen=frozen, refused=refused: refused_more(frozen, refused))
        assert (await heir.tell("counts"))["late"] == never, "who holds the token is never refused"
        catcher.release()
        await until(lambda: not catcher.hanging)
    catcher.answer = lambda _arrival: 200
    catcher.release()  # one may have come again since: a node that ends would wait for its answer
    await asyncio.gather(*(asyncio.to_thread(node.terminate) for node in nodes))
    await until(lambda: not any(node.running for node in nodes))
    await every_fire_has_one_row(store, jobs)
    ended = await query(store, "select id, idem_key, state from instance_history")
    assert len({row["id"] for row in ended}) == len({row["idem_key"] for row in ended}) == len(ended)
    assert {row["state"] for row in ended} == {"SUCCESS"}
    record_property("freezes", runs)
    record_property("fires", len(ended))
    twice = len(catcher.arrivals) - len({arrival.idempotency_key for arrival in catcher.arrivals})
    record_property("delivered_again", twice)
    assert twice >= runs, "what it had in flight was delivered again, under the same key"


def hangs_when_it_comes_again(delivered, arrival):
    """So that it still runs under its new token when the old one's answer is written."""
    delivered[arrival.idempotency_key] += 1
    return None if delivered[arrival.idempotency_key] == 2 else 200


async def shared(nodes):
    held = [sum((await node.tell("ping"))["held"].values()) for node in nodes]
    return sum(held) == 4096 and min(held) > 0


async def frozen_amid_calls(store, catcher, node):
    """Freeze a node when a call arrives. Where that was the other's and it has none on their way, it goes on."""
    incarnation = UUID((await node.tell("ping"))["incarnation"])
    answer, came = catcher.answer, asyncio.Event()

    def freeze(arrival):
        if not came.is_set():
            node.pause()
            came.set()
        return answer(arrival)

    catcher.answer = freeze
    await came.wait()
    catcher.answer = answer
    if await query(store, RUN_BY, incarnation):
        return True
    node.resume()
    return False


async def refused_more(node, than):
    return (await node.tell("counts"))["late"] > than
