"""A node whose target is nobody: every call is answered at once, inside the process. `python -m benchmarks.noop`."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import uvloop

from benchmarks.nodes import LOCAL, told
from horae.delivery.client import Client
from horae.delivery.push import Delivery, Sender
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import Success
from horae.domain.jobs.jobs import Job
from horae.engine.allowances import Allowances
from horae.engine.node import Node
from horae.runtime import telemetry
from horae.runtime.settings import Settings
from horae.store.store import Store

ANSWER = Delivery(Success(), 200, 0, None)


class Nobody(Sender):
    """Answers in the next turn of the loop."""

    def push(self, ran: Instance, job: Job, done: Callable[[Delivery], None]) -> None:
        """Nothing is sent."""
        asyncio.get_running_loop().call_soon(done, ANSWER)


async def main() -> None:
    """Until SIGTERM."""
    settings = Settings()
    telemetry.configure(as_json=False, level=settings.log_level)
    async with Store.of(settings.all_cells()) as store:
        ttl = timedelta(seconds=settings.lease_ttl)
        node = Node(store, "noop", ttl, Nobody(Client(LOCAL)), Allowances.of(store))
        await node.start()
        await told()
        await node.stop(10)


if __name__ == "__main__":
    uvloop.run(main())
