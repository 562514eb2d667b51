"""F7: a source that is slow, or sends what nobody can read, keeps no other source waiting, and fills no memory."""

import asyncio
import struct
from contextlib import asynccontextmanager

import pytest

from horae.domain.sources.sources import HttpSource, Spec, SqlSource
from horae.service.context import Context, PlatformContext
from horae.service.sources import sources
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.upkeep.copies import Copier
from tests.delivery.server import Visit, answer, saying, serving, silent
from tests.steps import a_type, query, until
from tests.upkeep.shop import STATEMENT, listing, reconciling, shopping
from tests.upkeep.test_reconciler import NINE, ended, whole_round

MB = 1024 * 1024
POISON = {
    "no UTF-8": b'{"items": [{"key": "\xff", "at": "2035-01-01T09:00:00Z"}], "next": null}',
    "brackets in brackets": b"[" * 60_000,
    "a key that no row can hold": b'{"items": [{"key": "a\\u0000b", "at": "2035-01-01T09:00:00Z"}], "next": null}',
    "a time before the first year": b'{"items": [{"key": "a", "at": "0001-01-01T00:00:00+23:59"}], "next": null}',
}


async def is_made(store):
    """Whether the task that the good source lists is there."""
    return bool(await query(store, "select from instance_live where business_key = 'k'"))


@pytest.fixture
async def both(ctx, store):
    """Two tenants with a type each."""
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=64), "test")
    for one in (ctx, other):
        await a_type(one, "PUBLISH", width=16)
    await Copier(store).once()
    return ctx, other


@pytest.mark.parametrize("kind", POISON)
async def test_f7_a_list_that_nobody_can_read_keeps_no_other_source_waiting(both, store, kind):
    bad, good = both

    async def behave(visit: Visit) -> None:
        while await visit.heard():
            await visit.say(answer(200, POISON[kind]))

    async with serving(behave) as server:
        with listing() as lister:
            lister.items = [{"key": "k", "at": "2035-01-01T09:00:00Z"}]
            async with reconciling(store, {}) as reconciler:
                await sources.put(bad, "PUBLISH", Spec(HttpSource(f"{server.url}/")))
                await sources.put(good, "PUBLISH", Spec(HttpSource(lister.url)))
                await asyncio.gather(reconciler.once(), return_exceptions=True)
                assert await is_made(store)
                told = await ended(bad)
                assert told.error or told.counts.refused


async def test_f7_a_source_that_does_not_answer_keeps_no_other_waiting(both, store):
    bad, good = both
    async with serving(silent) as server:
        with listing() as lister:
            lister.items = [{"key": "k", "at": "2035-01-01T09:00:00Z"}]
            async with reconciling(store, {}) as reconciler:
                await sources.put(bad, "PUBLISH", Spec(HttpSource(f"{server.url}/", read_timeout=30)))
                await server_is_asked_first(server, reconciler, good, lister)


async def server_is_asked_first(server, reconciler, good, lister):
    round_ = asyncio.create_task(reconciler.once())
    await until(lambda: server.visits == 1)
    await sources.put(good, "PUBLISH", Spec(HttpSource(lister.url)))

    async def rounds():
        while not round_.done():
            await asyncio.sleep(0.05)
        while True:
            await reconciler.once()

    others = asyncio.create_task(rounds())
    try:
        await until(lambda: is_made(good.store))
    finally:
        for task in (round_, others):
            task.cancel()
        await asyncio.gather(round_, others, return_exceptions=True)


@asynccontextmanager
async def a_database_that_never_ends(*before: bytes):
    """A server that lets in whoever comes, then sends one message of a gigabyte for as long as somebody reads."""
    sent = [0]

    async def meet(reader, writer):
        try:
            await reader.read(4096)
            writer.write(b"".join(before))
            await writer.drain()
            if before:
                await reader.read(4096)
            writer.write(b"D" + struct.pack("!I", 2**30))
            while sent[0] < 300 * MB:
                writer.write(bytes(65536))
                await writer.drain()
                sent[0] += 65536
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    try:
        yield f"postgres://u:p@127.0.0.1:{server.sockets[0].getsockname()[1]}/d?sslmode=disable", sent
    finally:
        server.close()


def said(name: bytes, value: bytes) -> bytes:
    return b"S" + struct.pack("!I", 6 + len(name) + len(value)) + name + b"\0" + value + b"\0"


SETTINGS = {b"server_version": b"15.0", b"client_encoding": b"UTF8", b"TimeZone": b"UTC", b"integer_datetimes": b"on"}
LET_IN = b"".join(
    [
        b"R" + struct.pack("!II", 8, 0),
        *(said(name, value) for name, value in SETTINGS.items()),
        b"K" + struct.pack("!III", 12, 1, 1),
        b"Z" + struct.pack("!I", 5) + b"I",
    ]
)


@pytest.mark.parametrize("before", [(), (LET_IN,)], ids=["while it lets us in", "when it is asked"])
async def test_f7_a_database_may_send_no_more_than_a_few_megabytes_at_once(both, store, before):
    bad, _ = both
    async with (
        a_database_that_never_ends(*before) as (dsn, sent),
        reconciling(store, {bad.tenant.id: {"shop": dsn}}) as reconciler,
    ):
        await sources.put(bad, "PUBLISH", Spec(SqlSource("shop", STATEMENT, timeout=10)))
        await asyncio.gather(reconciler.once(), return_exceptions=True)

        async def is_told():
            return bool((await ended(bad)).error)

        await until(is_told)
    assert sent[0] < 64 * MB


async def test_a_page_of_wide_rows_ends_early_and_the_next_goes_on_behind_it(both, store, cluster):
    good, _ = both
    async with shopping(cluster) as shop:
        wide = "insert into article (id, publish_at, payload) select 'k' || lpad(n::text, 4, '0'), $1, $2"
        await shop.run(f"{wide} from generate_series(1, 400) n", NINE, '"' + "x" * 30_000 + '"')
        async with reconciling(store, {good.tenant.id: {"shop": shop.dsn}}) as reconciler:
            await sources.put(good, "PUBLISH", Spec(SqlSource("shop", STATEMENT, page=400)))
            await whole_round(reconciler)
    assert (await ended(good)).counts.created == 400
    found = (await tasks.show(good, "PUBLISH", "k0400")).known
    assert found is not None


async def test_a_tenant_with_many_slow_sources_does_not_hide_those_of_another(ctx, store):
    """More of them are due than one look reads."""
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=64), "test")
    await a_type(other, "PUBLISH", width=16)
    for n in range(20):
        await a_type(ctx, f"T{n:03}", width=1)
    await Copier(store).once()
    async with serving(saying()) as server:
        with listing() as lister:
            lister.items = [{"key": "k", "at": "2035-01-01T09:00:00Z"}]
            async with reconciling(store, {}) as reconciler:
                for n in range(20):
                    await sources.put(ctx, f"T{n:03}", Spec(HttpSource(f"{server.url}/")))
                await sources.put(other, "PUBLISH", Spec(HttpSource(lister.url)))
                await reconciler.once()
                assert await is_made(store)
                assert server.visits <= 8 * len(store.cells)
