"""A node with its upkeep in this process, as `horae node`, `horae serve` and `horae dev` run it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from horae.boot import fitness
from horae.boot.duties import DutyParts, NodeUpkeep
from horae.boot.node_parts import node_of
from horae.boot.senders import client_of, sender_of
from horae.boot.shard_roles import ShardRoles
from horae.boot.tracing import ProcessTraces, tracing
from horae.delivery.broker_connections import Lines
from horae.delivery.push import Sender
from horae.engine.allowances import Allowances
from horae.engine.node import Node
from horae.repositories.secret_book import SecretBook
from horae.runtime.garbage import freeze_present_objects
from horae.runtime.settings import Settings
from horae.store.store import Store
from horae.upkeep.copies import Copier
from horae.upkeep.generations import GenerationWatch
from horae.upkeep.partitions import Partitioner
from horae.upkeep.relay import RelayProgress
from horae.upkeep.vacuum import Vacuumer


@asynccontextmanager
async def run_node(
    settings: Settings,
    store: Store,
    secrets: SecretBook,
    make_sender: Callable[..., Sender] = Sender,
    shared_traces: ProcessTraces | None = None,
) -> AsyncIterator[Node]:
    """Run a node with its upkeep during the block; then release its shards and let running attempts end.

    `make_sender` takes the arguments of `Sender`.
    """
    allowances, lines = Allowances.of(store), Lines(settings.brokers)
    async with tracing(settings, shared_traces) as traces, store.as_owner() as owner:
        tracer = None if traces is None else traces.tracer
        sender = make_sender(client_of(settings), secrets, egress_of=allowances.egress, lines=lines, tracer=tracer)
        async with _running(settings, store, owner, sender, allowances, lines) as node:
            if traces is not None:
                node.metric_sources.append(traces.exporter)
            yield node


@asynccontextmanager
async def _running(
    settings: Settings, store: Store, owner: Store, sender: Sender, allowances: Allowances, lines: Lines
) -> AsyncIterator[Node]:
    """Start a node and its duties, and stop them in the opposite order.

    1. Refuse cells that do not have what the guarantees of Horae need, and close those that were restored elsewhere.
    2. Build the node and its duties. Start the duties, then the node.
    3. At the end, stop the node first, so that running attempts can finish; then the duties and their connections.
    """
    await fitness.check(settings, store)
    watch = GenerationWatch(store)
    await watch.once()
    relayed = {cell.name: RelayProgress() for cell in owner.cells}
    node = node_of(settings, store, sender, allowances, owner, lambda cell: relayed[cell].lowest())
    node.followed_stores = [store] if owner is store else [store, owner]
    upkeep = NodeUpkeep(
        DutyParts(
            settings=settings,
            store=store,
            owner=owner,
            sender=sender,
            lines=lines,
            node=node,
            roles=ShardRoles(store, node),
            generations=watch,
            relayed=relayed,
        )
    )
    upkeep.start()
    await node.start()
    freeze_present_objects()
    try:
        yield node
    finally:
        await node.stop(settings.grace)
        await upkeep.stop()


async def drain(settings: Settings, store: Store) -> int:
    """Run upkeep and everything that is due now, once; returns how much was done."""
    await fitness.check(settings, store)
    for duty in (GenerationWatch(store), Copier(store), Partitioner(store), Vacuumer(store)):
        await duty.once()
    allowances = Allowances.of(store)
    node = node_of(settings, store, await sender_of(settings, store, allowances.egress), allowances)
    try:
        return await node.drain()
    finally:
        await node.leave()
