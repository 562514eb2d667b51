"""One tenant's fires over several nodes, by the log of the receiver that they called.

Each node knows the receiver by another address, so the receiver's log says who called.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from horae.delivery.names import Resolve
from horae.domain.jobs.jobs import Definition
from horae.domain.placement import DEFAULT_WIDTH, Layout, home_of
from horae.domain.schedules.triggers import IntervalTrigger, KeyedTrigger
from horae.domain.targets.targets import HttpTarget
from horae.domain.tenants.tenants import Tenant
from horae.engine.node import Node
from horae.runtime.randomness import new_id
from horae.runtime.settings import CellSettings
from horae.service.context import Context, PlatformContext
from horae.service.jobs import jobs
from horae.service.tasks.batches import TaskIntent, schedule_many
from horae.service.tasks.tasks import ScheduleAnswer
from horae.service.tenants import tenants
from horae.store.store import Store
from horae.store.tenants import tenants as rows
from horae.upkeep.copies import Copier
from tests.catcher import Arrival, Catcher, catching
from tests.engine.fleet import another, kill
from tests.steps import until

JOBS = 120
KEYS = 1600
TTL = timedelta(seconds=4)


@pytest.fixture
async def receiver(store: Store) -> AsyncIterator[Catcher]:
    async with catching(store.cells[0].clock.now, "0.0.0.0") as catcher:
        yield catcher


@pytest.fixture
async def ours(store: Store) -> Context:
    """A tenant as `horae tenant create` makes it."""
    return Context.of(store, await tenants.create(PlatformContext(store, "test"), "default"), "test")


def known_as(address: str) -> Resolve:
    async def resolve(_host: str, _port: int) -> list[str]:
        return [address]

    return resolve


@asynccontextmanager
async def fleet(cells: Sequence[CellSettings], store: Store, number: int) -> AsyncIterator[dict[str, Node]]:
    """So many nodes that share every shard evenly, by the address at which each of them calls."""
    async with AsyncExitStack() as started:
        nodes = {}
        for address in (f"127.0.0.{n + 2}" for n in range(number)):
            node = another(cells, ttl=TTL, resolve=known_as(address))
            nodes[address] = await started.enter_async_context(node)
        await until(lambda: shared(store, nodes.values()))
        yield nodes


def shared(store: Store, nodes: Iterable[Node]) -> bool:
    """Whether all shards are held, each node its even part."""
    for cell in store.cells:
        here, held = len(store.shards_of(cell)), [len(node.leases.held_shards(_own(node, cell.name))) for node in nodes]
        if sum(held) != here or max(held) - min(held) > 1:
            return False
    return True


def _own(node: Node, name: str):
    return next(cell for cell in node.store.cells if cell.name == name)


def target_of(receiver: Catcher, path: str) -> HttpTarget:
    return HttpTarget(f"http://receiver.test:{urlsplit(receiver.url).port}/{path}")


async def a_load(ctx: Context, receiver: Catcher) -> None:
    """Jobs that fire every two seconds, and a type whose keys fire when they are told to."""
    start = ctx.store.cells[0].clock.now().replace(microsecond=0)
    for number in range(JOBS):
        trigger = IntervalTrigger(2, start + timedelta(milliseconds=2000 * number / JOBS))
        await jobs.create(ctx, f"job-{number}", Definition(trigger=trigger, target=target_of(receiver, "jobs")))
    await jobs.create(ctx, "T", Definition(trigger=KeyedTrigger(), target=target_of(receiver, "keys")))
    await Copier(ctx.store).once()


async def fire_keys(ctx: Context, receiver: Catcher, name: str = "key") -> list[Arrival]:
    """As many keys, each once; returns what arrived of them."""
    before, half = len(receiver.of("/keys")), KEYS // 2
    for first in (0, half):
        answers = await schedule_many(ctx, "T", [TaskIntent(f"{name}-{n}") for n in range(first, first + half)])
        assert all(isinstance(answer, ScheduleAnswer) for answer in answers)
    await until(lambda: len(receiver.of("/keys")) >= before + KEYS, 60)
    return receiver.of("/keys")[before:]


def assert_even(arrivals: Sequence[Arrival], nodes: Iterable[str]) -> None:
    """Each node's share of the fires is within a fifth of even."""
    seen = Counter(arrival.address for arrival in arrivals)
    even = len(arrivals) / len(list(nodes))
    assert set(seen) == set(nodes)
    assert all(abs(many - even) <= even / 5 for many in seen.values()), seen


@pytest.mark.parametrize("number", [2, 3, 8])
async def test_one_tenants_fires_are_shared_by_all_nodes_within_a_fifth_of_even(ours, store, cells, receiver, number):
    await a_load(ours, receiver)
    async with fleet(cells, store, number) as nodes:
        first = len(receiver.of("/jobs"))
        assert_even(await fire_keys(ours, receiver), nodes)
        await until(lambda: len({one.job for one in receiver.of("/jobs")[first:]}) == JOBS)
        assert {one.address for one in receiver.of("/jobs")[first:]} == set(nodes)
    assert set(receiver.effects.values()) == {1}


@pytest.mark.long
async def test_a_tenant_of_one_node_loads_all_nodes_once_it_is_widened(store, cells, receiver):
    """As an earlier release made it: its shards are neighbours, and the nodes hold runs of neighbours."""
    ctx = Context.of(store, await an_old_tenant(store), "test")
    await jobs.create(ctx, "T", Definition(trigger=KeyedTrigger(), target=target_of(receiver, "keys")))
    await Copier(store).once()
    async with fleet(cells, store, 3) as nodes:
        assert len({one.address for one in await fire_keys(ctx, receiver)}) == 1
        await tenants.widen(PlatformContext(store, "test"), "old", DEFAULT_WIDTH)
        assert_even(await fire_keys(ctx, receiver, "other"), nodes)
    assert set(receiver.effects.values()) == {1}


async def an_old_tenant(store: Store) -> Tenant:
    shard = home_of("old")
    tenant = Tenant(new_id(shard, store.cell(shard).clock.now()), "old", 4, layout=Layout.NEIGHBOURS)
    async with store.tx(shard) as tx:
        assert await rows.create(tx, tenant)
        await rows.publish(tx, tenant.id)
    return tenant


async def test_the_living_share_what_a_dead_node_had(ours, store, cells, receiver):
    await a_load(ours, receiver)
    async with fleet(cells, store, 3) as nodes:
        [(gone, dead), *living] = nodes.items()
        await fire_keys(ours, receiver)
        await kill(dead)
        await until(lambda: shared(store, [node for _, node in living]))
        assert_even(await fire_keys(ours, receiver, "other"), [address for address, _ in living])
        begun = len(receiver.of("/jobs"))
        await until(lambda: len({one.job for one in receiver.of("/jobs")[begun:]}) == JOBS)
        assert gone not in {one.address for one in receiver.of("/jobs")[begun:]}
