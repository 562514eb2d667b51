"""Nodes that run: started, holding every shard of their part, and stopped at the end of the block."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from horae.delivery.client import Client
from horae.delivery.names import Resolve, lookup
from horae.engine.node import Node
from horae.store.store import Store
from tests.egress import ANYWHERE
from tests.nodes import node_in
from tests.steps import move_clock, query, until

TTL = timedelta(seconds=4)
"""A heartbeat has a quarter of it to be answered: of a shorter term, a machine that stands still for a moment takes the
shards away in the middle of a test."""
SHORT_TTL = timedelta(seconds=1)
"""Where losing them is what the test is about."""
GRACE = 5.0


@asynccontextmanager
async def running(
    store: Store, *, ttl: timedelta = TTL, resolve: Resolve = lookup, client: Client | None = None, **facts: Any
) -> AsyncIterator[Node]:
    node = node_in(store, "n", ttl, client or Client(ANYWHERE, resolve=resolve), **facts)
    await node.start()
    try:
        await until(lambda: all(node.leases.held_shards(cell) for cell in store.cells))
        yield node
    finally:
        await node.stop(GRACE)


async def hurry(store: Store, *nodes: Node, **by: float) -> None:
    """Move the clock, and let nodes notice at once what they would notice within a nap or a look."""
    await move_clock(store, **by)
    for node in nodes:
        for name, post in node.runners.items():
            node._looks[name].waker.wake()
            post.waker.wake()


async def ended(store: Store, many: int, state: str = "SUCCESS") -> bool:
    """Whether so many instances have come to that end."""
    found = await query(store, "select count(*) as many from instance_history where state = $1", state)
    return sum(row["many"] for row in found) >= many
