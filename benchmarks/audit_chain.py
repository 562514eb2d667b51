"""A sealer and nothing else: `python -m benchmarks.audit_chain DSN`, until SIGTERM."""

import asyncio
import sys

import uvloop

from benchmarks.nodes import told
from horae.boot.duties import AUDIT_CHAIN_INTERVAL_S
from horae.runtime.loop import Loop
from horae.store.cells import Cell
from horae.store.store import Store
from horae.upkeep.audit_chain import AuditChainer


async def main(dsn: str) -> None:
    """Seal about once a second."""
    async with Store([Cell("bench_audit", dsn, connections=1)]) as store:
        duty = AuditChainer(store)
        while await duty.once():
            pass
        async with store.cells[0].statement() as tx:
            print(await tx.value("select pg_backend_pid()"), flush=True)  # there is only this one
        sealing = asyncio.create_task(Loop("audit chain", duty, AUDIT_CHAIN_INTERVAL_S).run())
        await told()
        sealing.cancel()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
