"""`horae node`."""

import asyncio
import gc
import signal
import socket
from datetime import timedelta
from typing import Annotated

import typer

from horae.boot.secrets import secrets_of
from horae.boot.session import load, out, run
from horae.delivery.client import Client
from horae.delivery.push import Sender
from horae.engine.node import Node
from horae.runtime.loop import Loop
from horae.runtime.settings import Settings
from horae.store.cells import Store
from horae.upkeep.copies import Copier
from horae.upkeep.partitions import Partitioner
from horae.upkeep.vacuum import Vacuumer

COPY, VACUUM, PARTITION = 2.0, 3.0, 3600.0


def node(
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
) -> None:
    """Run a scheduler node: fire what is due, deliver it, settle it."""

    async def work() -> None:
        settings = load()
        async with Store.of(settings.all_cells()) as store:
            if once:
                out.print(f"{await _drain(settings, store)} done", highlight=False)
            else:
                await serve(settings, store)

    run(work)


async def node_of(settings: Settings, store: Store) -> Node:
    """The node that the settings describe, not yet started."""
    sender = Sender(Client(), await secrets_of(settings, store))
    ttl = timedelta(seconds=settings.lease_ttl)
    return Node(store, socket.gethostname(), ttl, sender, slots=settings.slots, enforced=settings.leases)


async def serve(settings: Settings, store: Store) -> None:
    """A node with its upkeep, until SIGTERM or SIGINT."""
    told = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, told.set)
    duties = ((Copier(store), COPY), (Partitioner(store), PARTITION), (Vacuumer(store), VACUUM))
    loops = [Loop(type(duty).__name__.lower(), duty, pause) for duty, pause in duties]
    upkeep = [asyncio.create_task(loop.run()) for loop in loops]
    worker = await node_of(settings, store)
    await worker.start()
    gc.freeze()  # what is here now stays; collections need not walk it again
    gc.set_threshold(50_000, 20, 50)  # timers and definitions live long, and calls leave no cycles
    await told.wait()
    await worker.stop(settings.grace)
    for task in upkeep:
        task.cancel()
    await asyncio.gather(*upkeep, return_exceptions=True)


async def _drain(settings: Settings, store: Store) -> int:
    for duty in (Copier(store), Partitioner(store), Vacuumer(store)):
        await duty.once()
    worker = await node_of(settings, store)
    try:
        return await worker.drain()
    finally:
        await worker.leave()
