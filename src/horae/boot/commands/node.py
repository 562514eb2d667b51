"""`horae node`."""

import asyncio
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
from horae.runtime.telemetry import log
from horae.store.cells import Store
from horae.upkeep.copies import Copier
from horae.upkeep.partitions import Partitioner
from horae.upkeep.vacuum import Vacuumer

LOOK, COPY, VACUUM, PARTITION = 0.5, 2.0, 3.0, 3600.0


def node(
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
) -> None:
    """Run a scheduler node: fire what is due, deliver it, settle it."""

    async def work() -> None:
        settings = load()
        async with Store.of(settings.all_cells()) as store:
            sender = Sender(Client(), await secrets_of(settings, store))
            worker = Node(store, socket.gethostname(), timedelta(seconds=settings.lease_ttl), sender)
            upkeep = (Copier(store), Partitioner(store), Vacuumer(store))
            try:
                if once:
                    for duty in upkeep:
                        await duty.once()
                    out.print(f"{await _drain(worker)} done", highlight=False)
                else:
                    loops = [
                        Loop("node", worker, LOOK),
                        Loop("copies", upkeep[0], COPY),
                        Loop("partitions", upkeep[1], PARTITION),
                        Loop("vacuum", upkeep[2], VACUUM),
                    ]
                    await _until_told(loops)
            finally:
                await worker.leave()

    run(work)


async def _drain(worker: Node) -> int:
    done = 0
    while more := await worker.once():
        done += more
    return done


async def _until_told(loops: list[Loop]) -> None:
    def stop() -> None:
        for loop in loops:
            loop.stop()

    running = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        running.add_signal_handler(name, stop)
    log.info("node.started")
    async with asyncio.TaskGroup() as group:
        for loop in loops:
            group.create_task(loop.run())
    log.info("node.stopped")
