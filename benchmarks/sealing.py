"""A sealer and nothing else: `python -m benchmarks.sealing DSN`, until SIGTERM."""

import asyncio
import sys

import uvloop

from benchmarks.nodes import told
from horae.boot.serving import SEAL
from horae.runtime.loop import Loop
from horae.store.cells import Cell, Store
from horae.upkeep.sealer import Sealer


async def main(dsn: str) -> None:
    """Seal about once a second."""
    async with Store([Cell("bench_audit", dsn, connections=1)]) as store:
        duty = Sealer(store)
        while await duty.once():
            pass
        async with store.cells[0].statement() as tx:
            print(await tx.value("select pg_backend_pid()"), flush=True)  # there is only this one
        sealing = asyncio.create_task(Loop("sealer", duty, SEAL).run())
        await told()
        sealing.cancel()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
