"""A process that holds leases until its input ends: `python -m tests.engine.leaseholder TTL DSN…`."""

import asyncio
import sys
from datetime import timedelta

from horae.engine.leases import Leases
from horae.engine.leases.keeper import NodeIdentity
from horae.runtime.randomness import new_token
from horae.store.cells import Cell
from horae.store.store import Store


async def main() -> None:
    ttl, *dsns = sys.argv[1:]
    async with Store([Cell(f"cell-{n}", dsn) for n, dsn in enumerate(dsns)]) as store:
        who = NodeIdentity(new_token(), "same-host", timedelta(seconds=float(ttl)))
        leases = Leases(store.cells, who, lambda *_: None)
        await leases.start()
        sys.stdout.write(f"{who.incarnation}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        await leases.stop()


if __name__ == "__main__":
    asyncio.run(main())
