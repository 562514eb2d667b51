"""A schedule whose definition cannot be had or read now waits, and goes on by itself: nothing ends it.

Findings F2, F16 and N1 of the adversarial reading.
"""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from datetime import timedelta

import msgspec
import pytest

from horae.boot.encryption import ANYWHERE as ANY_ENGINE
from horae.delivery.client import Client
from horae.delivery.transit import Transit, TransitKek
from horae.domain.errors import KeysUnavailable
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.timers import cursor_of
from horae.domain.schedules.triggers import IntervalTrigger, cron
from horae.domain.targets.auth import BearerAuth
from horae.domain.targets.targets import HttpTarget
from horae.domain.zones import zones
from horae.repositories import definitions
from horae.repositories.definitions import Definitions
from horae.repositories.envelopes import Envelopes
from horae.repositories.secret_book import SecretBook
from horae.security.keks import Keks
from horae.security.payload_cipher import PayloadCipher
from horae.service.context import Context, PlatformContext
from horae.service.encryption import secrets
from horae.service.jobs import jobs
from horae.service.tenants import tenants
from horae.store.store import Store
from tests.bulk import bulk_jobs
from tests.delivery.transit import TOKEN, key_engine
from tests.engine.running import GRACE, TTL
from tests.nodes import node_in
from tests.steps import a_job, move_clock, query, until
from tests.system.proxy import proxied

ZONE = "America/Coyhaique"


async def states(store):
    """How many jobs have which status; and none of their cursors has stopped."""
    assert not await query(store, "select from job_cursor where next_fire_at is null")
    return Counter(row["status"] for row in await query(store, "select status from job"))


async def drained(store):
    """Everything that is due, by a node of its own."""
    node = node_in(store, "n", TTL)
    try:
        return await node.drain()
    finally:
        await node.leave()


@asynccontextmanager
async def sealed_by(store, url):
    """The store seals with the keys of an engine at this address."""
    client, before = Client(ANY_ENGINE), store.cipher
    store.cipher = Envelopes(store, Keks([TransitKek(client, Transit(url, "horae", lambda: TOKEN))]))
    yield store
    store.cipher = before
    await client.close()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("weather", ["cut", "refuse"])
async def test_an_outage_of_the_key_engine_ends_no_schedule(store, cells, catcher, weather):
    """F2: a node starts while the key engine does not answer; then the engine comes back."""
    with key_engine() as engine, proxied(engine.url.replace("http://", "http://x@")) as proxy:
        url = f"http://127.0.0.1:{proxy.ports[0]}"
        async with sealed_by(store, url):
            start = store.cells[0].clock.now().replace(microsecond=0) + timedelta(seconds=1)
            for n in range(3):
                ctx = Context.of(store, await tenants.create(PlatformContext(store, "test"), f"t{n}", width=64), "test")
                await secrets.put(ctx, "token", "s3cret")
                target = HttpTarget(f"{catcher.url}/{n}", headers={"X-Kind": "news"}, auth=BearerAuth("token"))
                for m in range(3):
                    await a_job(ctx, f"j{m}", IntervalTrigger(2, start), target=target, payload={"n": n})
        getattr(proxy, weather)()
        async with Store.of(cells) as own, sealed_by(own, url):
            book = SecretBook(own)
            node = node_in(own, "n", TTL, secrets=book)
            await node.start()
            try:
                await until(lambda: _moved(store, 9), 120)
                assert await states(store) == {"ACTIVE": 9}
                assert not catcher.arrivals
                proxy.mend()
                await until(lambda: len({(one.path, one.job) for one in catcher.arrivals}) == 9, 120)
            finally:
                await node.stop(GRACE)
        assert await states(store) == {"ACTIVE": 9}


async def _moved(store, many):
    """Whether the cursors of so many jobs have gone on, or stopped: their fires are recorded, sent or not."""
    moved = await query(store, "select from job_cursor where fired > 0 or next_fire_at is null")
    return len(moved) == many


class InterruptedBook(SecretBook):
    """Secrets that take a while to learn: meanwhile another duty of the node asks for definitions."""

    definitions_of = None

    async def learn(self, cell, needed, *, force=False):
        async with cell.statement() as tx:
            await self.definitions_of(cell).load(tx, ())
        await super().learn(cell, needed, force=force)


async def test_a_look_between_learning_a_definition_and_firing_it_ends_no_schedule(ctx, store, catcher):
    """F2: what could not be opened is asked for again by whoever comes next, and stays with whoever has it."""
    await secrets.put(ctx, "token", "s3cret")
    start = store.cells[0].clock.now().replace(microsecond=0)
    target = HttpTarget(catcher.url, auth=BearerAuth("token"))
    for n in range(6):
        await a_job(ctx, f"j{n}", IntervalTrigger(3600, start), target=target, payload={"n": n})
    await move_clock(store, hours=1)
    store.cipher = sealing = SlowSealing(store.cipher)
    book = InterruptedBook(store)
    node = node_in(store, "n", TTL, secrets=book)
    book.definitions_of = lambda cell: node.runners[cell.name].definitions
    try:
        await node.drain()
        assert await states(store) == {"ACTIVE": 6}
        assert not catcher.arrivals
        sealing.well = True
        await move_clock(store, hours=1)
        await node.drain()
        assert len({arrival.job for arrival in catcher.arrivals}) == 6
    finally:
        await node.leave()


async def test_more_jobs_than_are_remembered_all_go_on(ctx, store, catcher, monkeypatch):
    """F2: what is learnt just now drives out what is about to fire."""
    monkeypatch.setattr(definitions, "MOST", 50)
    target, start = HttpTarget(catcher.url), store.cells[0].clock.now().replace(microsecond=0)
    await bulk_jobs(ctx, store, 100, Definition(trigger=IntervalTrigger(60, start), target=target), start, "often")
    node = node_in(store, "n", TTL)
    try:
        await node.drain()
        await move_clock(store, seconds=61)
        later = start + timedelta(seconds=60)
        await bulk_jobs(ctx, store, 40, Definition(trigger=IntervalTrigger(60, later), target=target), later, "new")
        await node.drain()
    finally:
        await node.leave()
    assert await states(store) == {"ACTIVE": 140}
    assert len(catcher.effects) == 240


async def test_the_version_that_was_not_asked_for_longest_is_forgotten_first(ctx, store, monkeypatch):
    """F2: a job that fires every second outlives those that fire once a day."""
    monkeypatch.setattr(definitions, "MOST", 3)
    cell = store.cells[0]
    timers = await _timers(ctx, store, 30)
    often, *rest = timers
    known = Definitions()
    for timer in rest:
        assert None not in await known.of(cell, [often, timer])
    assert (often.job_id, often.version) in known._known
    assert len(known._known) == 3


async def test_a_zone_that_this_node_does_not_know_yet_ends_no_schedule(ctx, store, catcher, monkeypatch):
    """F2: the API of the next release made a job in a zone that this node's time zone data lack."""
    await a_job(ctx, "new-zone", cron("* * * * * ?", zone_name=ZONE), target=HttpTarget(catcher.url))
    known = zones.names() - {ZONE}
    zones.zone.cache_clear()
    await move_clock(store, seconds=2)
    with monkeypatch.context() as older:
        older.setattr(zones, "names", lambda: known)
        assert await drained(store) == 0
    assert await states(store) == {"ACTIVE": 1}
    zones.zone.cache_clear()
    assert await drained(store)
    assert catcher.arrivals


async def test_a_definition_of_a_later_release_waits_and_stops_nobody_else(ctx, store, catcher):
    """F16: a row that this release cannot read stands in the same chunk as a hundred others."""
    target, start = HttpTarget(catcher.url), store.cells[0].clock.now().replace(microsecond=0)
    await bulk_jobs(ctx, store, 100, Definition(trigger=IntervalTrigger(60, start), target=target), start, "well")
    later = await a_job(ctx, "later", IntervalTrigger(60, start), target=target)
    cell = store.cell(later.shard)
    await query(cell, "update job_cursor set next_fire_at = $2 where job_id = $1", later.id, start)
    readable = msgspec.to_builtins(later.definition)
    future = readable | {"trigger": {"kind": "future"}}
    write = "update job_version set definition = $2 where job_id = $1"
    await query(cell, write, later.id, future)
    await drained(store)
    assert len(catcher.effects) == 100
    assert await states(store) == {"ACTIVE": 101}
    await query(cell, write, later.id, readable)
    await drained(store)
    assert len(catcher.effects) == 101


class SlowSealing(PayloadCipher):
    """A key engine that takes its time to say that it is not there; once `well`, it opens."""

    def __init__(self, real):
        self.real, self.well = real, False

    async def decrypt(self, tenant_id, spot, sealed):
        if self.well:
            return await self.real.decrypt(tenant_id, spot, sealed)
        await asyncio.sleep(0.05)
        raise KeysUnavailable("the key engine did not answer")


async def test_what_could_not_be_opened_is_asked_for_again_when_the_keys_are_back(ctx, store):
    """N1: another look goes by while the key engine is asked for one job after the other."""
    cell, sealing = store.cells[0], SlowSealing(store.cipher)
    timers = await _timers(ctx, store, 20, payload={"n": 1})
    known = Definitions(sealing)

    async def rescuer():
        while True:
            async with cell.statement() as tx:
                await known.load(tx, ())
            await asyncio.sleep(0.01)

    beside = asyncio.create_task(rescuer())
    closed = await known.of(cell, timers)
    beside.cancel()
    assert all(job.definition.sealed is not None for job in closed)
    sealing.well = True
    assert all(job.definition.sealed is None for job in await known.of(cell, timers))


async def _timers(ctx, store, number, **definition):
    """Timers of new jobs that live in the first cell: some of so many."""
    made = [await a_job(ctx, f"j{n}", **definition) for n in range(number)]
    found = [await jobs.find(ctx, one.name) for one in made]
    here = [cursor_of(job, job.next_fire_at) for job in found if store.cell(job.shard) is store.cells[0]]
    assert len(here) > 4
    return here
